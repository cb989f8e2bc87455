/**
 * The only place where a text becomes part of a configuration line, a map, a script or a command of the socket.
 * What cannot be written safely is refused, whatever has checked it before.
 */

/** A text that cannot stand where it should. Sites that cause it are left out of the table. */
export class UnsafeText extends Error {
  constructor(what: string, text: string) {
    super(`${what}: ${JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)} cannot be written`);
    this.name = "UnsafeText";
  }
}

const control = /[\u0000-\u001f\u007f]/;

/** One word of a configuration line, in strong quotes, in which nothing has a meaning. */
export function word(text: string, what: string): string {
  if (control.test(text) || !text.isWellFormed()) throw new UnsafeText(what, text);
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** One word that the proxy reads as a format: `%` begins an expression there, and several spaces are one. */
export function formatWord(text: string, what: string): string {
  // HAProxy takes an empty word for a missing one.
  return text === "" ? "%[str()]" : word(text.replaceAll("%", "%%"), what);
}

/** A name that needs no quotes anywhere: backends, servers, cookies, ids of certificates. */
export function plainName(text: string, what: string): string {
  return matching(/^[A-Za-z0-9._-]{1,128}$/, text, what);
}

/** A header name as RFC 9110 has it, without the signs that mean something in a configuration line. */
export function headerName(text: string, what: string): string {
  return word(matching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/, text, what), what);
}

export function hostName(text: string, what: string): string {
  return matching(/^(?:\*\.)?[a-z0-9_](?:[a-z0-9._-]{0,251}[a-z0-9_])?$/, text, what);
}

/** A path prefix: `/`, or `/api` without a slash at the end. */
export function pathPrefix(text: string, what: string): string {
  return matching(/^\/(?:[!-~]{0,2047}[!-.0-~])?$/, text, what);
}

export function network(text: string, what: string): string {
  const [address = "", bits, more] = text.split("/");
  if (more !== undefined || (bits !== undefined && !/^\d{1,3}$/.test(bits))) throw new UnsafeText(what, text);
  return isIPv4(address) || isIPv6(address) ? text : refuse(text, what);
}

/** `1.2.3.4:80` or `[::1]:80`. */
export function endpoint(address: string, port: number, what: string): string {
  const number = wholeNumber(port, 65_535, what);
  if (isIPv4(address)) return `${address}:${number}`;
  return isIPv6(address) ? `[${address}]:${number}` : refuse(address, what);
}

/** Where the proxy listens: `host:port`, `:port` or `[::]:port`. */
export function listenAddress(text: string, what: string): string {
  const match = /^(\[[^\]]*\]|[^:[\]]*):(\d{1,5})$/.exec(text);
  const [, host = "", port = ""] = match ?? [];
  if (match === null || Number(port) > 65_535) throw new UnsafeText(what, text);
  if (host === "" || host === "0.0.0.0") return `0.0.0.0:${port}`;
  if (isIPv4(host) || host === "localhost") return text;
  return isIPv6(host.slice(1, -1)) ? text : refuse(text, what);
}

export function wholeNumber(value: number, max: number, what: string): string {
  if (!Number.isSafeInteger(value) || value < 0 || value > max) throw new UnsafeText(what, String(value));
  return String(value);
}

/** Key of a map: no spaces, and no `#` first, which begins a comment. */
export function mapKey(text: string, what: string): string {
  return matching(/^[!-"$-~][!-~]*$/, text, what);
}

/** Value of a map: the rest of the line behind the key. */
export function mapValue(text: string, what: string): string {
  return matching(/^[!-~](?:[ -~]*[!-~])?$/, text, what);
}

/** One word of a command over the socket. */
export function socketWord(text: string, what: string): string {
  return matching(/^[ -~]+$/, text, what).replace(/[\\; "'#<]/g, "\\$&");
}

/** A text of Lua. */
export function luaString(text: string, what: string): string {
  if (control.test(text)) throw new UnsafeText(what, text);
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}

function matching(pattern: RegExp, text: string, what: string): string {
  return pattern.test(text) ? text : refuse(text, what);
}

function refuse(text: string, what: string): never {
  throw new UnsafeText(what, text);
}

function isIPv4(text: string): boolean {
  return /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(text);
}

/** Up to eight groups of hexadecimal digits, of which one run of zeros may be left out as `::`. */
function isIPv6(text: string): boolean {
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1) ?? "";
  const tail = isIPv4(last) ? 2 : 1;
  const count = groups.length - (groups.length === 0 ? 0 : 1) + (groups.length === 0 ? 0 : tail);
  const hex = tail === 2 ? groups.slice(0, -1) : groups;
  return hex.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group)) && (halves.length === 2 ? count < 8 : count === 8);
}
