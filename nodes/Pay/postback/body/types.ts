/** The content type of a form in several parts, which may hold files. */
export const MULTIPART = /^multipart\/form-data\b/i;

/** The content type of a form as one line, `a=1&b=2`. */
export const URL_ENCODED = /^application\/x-www-form-urlencoded\b/i;
