const tokenPattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Whether a text is a token (RFC 9110, section 5.6.2): the name of a header or of a cookie. */
export function tokenOk(text: string): boolean {
  return tokenPattern.test(text);
}

/** Whether a text holds characters that end or garble a line. */
export function hasControlCharacters(text: string): boolean {
  return [...text].some((character) => character < " " || character === "\u007f");
}
