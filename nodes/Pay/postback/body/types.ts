/* The content types of forms. */

export const MULTIPART = /^multipart\/form-data\b/i;
export const FORM = /^application\/x-www-form-urlencoded\b/i;
