/**
 * The path of a request in the one spelling that is compared with routes: `/%68ealth` is `/health`, and `%2f` is `%2F`
 * (RFC 3986, section 6.2.2). Only characters that mean themselves anyway are decoded: a slash stays encoded. A path with
 * a broken escape stays as it is: decoded, what stands beside the break could become an escape.
 */
export function plainPath(path: string): string {
  if (!path.includes("%") || /%(?![0-9a-f]{2})/i.test(path)) return path;
  return path.replaceAll(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[A-Za-z0-9\-._~]/.test(character) ? character : code.toUpperCase();
  });
}
