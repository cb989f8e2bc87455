/**
 * The page that a browser goes to after its sign-in: a path of the web UI, and `/` for everything else. What browsers
 * read as another host (`//evil.example`, `/\evil.example`, a tab between the slashes) is not a path of ours.
 */
export function returnPath(asked: string | null): string {
  if (asked === null || asked.length > 2_000 || !/^\/(?![/\\])[\u0021-\u007e]*$/.test(asked)) return "/";
  if (asked.includes("\\")) return "/";
  const url = new URL(asked, base);
  const isOurs = url.origin === base && !url.pathname.startsWith("//");
  // The API and what is below /ui/api/ are not pages.
  return isOurs && !/^\/(?:api|ui)\//.test(url.pathname) ? `${url.pathname}${url.search}` : "/";
}

const base = "http://ui.invalid";

/** Where the browser reached the plane, such as `https://berth.example.com`; undefined for a bad Host. */
export function originOf(host: string | null, tls: boolean): string | undefined {
  if (host === null || !/^[a-z0-9._:[\]-]{1,255}$/i.test(host)) return undefined;
  const text = `${tls ? "https" : "http"}://${host}`;
  return URL.canParse(text) ? new URL(text).origin : undefined;
}

/** `https://berth.example.com` from what an operator wrote; undefined where browsers could not use it. */
export function webUiOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isPlain = url.pathname === "/" && url.search === "" && url.hash === "" && url.username === "";
  const isLocal = url.protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
  return isPlain && (url.protocol === "https:" || isLocal) ? url.origin : undefined;
}
