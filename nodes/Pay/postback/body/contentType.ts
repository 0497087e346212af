/** The types of JSON: `application/json`, `application/vnd.pay+json`, `text/json`, and `json` alone. */
export const JSON_TYPE = /^([^;]+[/+-])?json\s*(;|$)/i;
/** The type of a form as one line, `a=1&b=2`. */
export const URL_ENCODED = /^application\/x-www-form-urlencoded\b/i;
/** The type of a form in several parts, which may hold files. */
export const MULTIPART = /^multipart\/form-data\b/i;

const CHARSET = /;\s*charset\s*=\s*"?([^\s;",]+)/i;
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]+)"|([^\s;]+))/i;

/** The charset that a type names. */
export const charsetOf = (contentType: string) => CHARSET.exec(contentType)?.[1];

/** What stands between the parts of a form of this type; "" where the type does not say it. */
export function boundaryOf(contentType: string): string {
	const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
	return quoted ?? plain ?? '';
}
