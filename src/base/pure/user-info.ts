/** Name and password of an address, as they were meant. A `%` that begins no escape is one, as for browsers and curl. */
export function userInfo({ username, password }: Pick<URL, "username" | "password">): {
  user: string;
  password: string;
} {
  return { user: decoded(username), password: decoded(password) };
}

/** The header `Authorization` of an address that holds a login; undefined for one without. */
export function basicLogin(url: URL): string | undefined {
  if (url.username === "") return undefined;
  const { user, password } = userInfo(url);
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

/** `decodeURIComponent` throws at `100%`. */
function decoded(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (escapes) =>
    Buffer.from(escapes.replaceAll("%", ""), "hex").toString("utf8"),
  );
}
