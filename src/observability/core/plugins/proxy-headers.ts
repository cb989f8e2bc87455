/** Headers of one connection and not of the message (RFC 9110, section 7.6.1). */
const hopByHop = [
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer"],
  ...["transfer-encoding", "upgrade", "http2-settings"],
];

/** What would give a plugin the rights of the caller, or what it says about the way here. */
const ownOfCaller = [
  ...["authorization", "cookie", "host", "expect", "origin", "referer", "forwarded", "via"],
  ...["service-worker", "x-real-ip"],
];

/** Headers of an answer that a plugin decides. All others would speak for the whole origin, or are not known to be harmless. */
const ownOfAnswer = new Set([
  ...["accept-ranges", "age", "allow", "cache-control", "content-disposition", "content-encoding", "content-language"],
  ...[
    "content-length",
    "content-range",
    "content-type",
    "date",
    "etag",
    "expires",
    "last-modified",
    "link",
    "location",
  ],
  ...["pragma", "retry-after", "server-timing", "vary"],
]);

interface Forwarding {
  /** Address of the client. */
  client: string;
  /** The path that was left out. */
  base: string;
  /** How headers of this product begin: `X-Berth`, or as the installation is called. The word of the ingress is one. */
  headerPrefix: string;
}

/** Headers of a request as they go to the container of a plugin. */
export function forwardedHeaders(given: Headers, { client, base, headerPrefix }: Forwarding): Headers {
  const named = (given.get("connection") ?? "").split(",").map((word) => word.trim().toLowerCase());
  const own = ["sec-", "x-forwarded-", "x-berth-", `${headerPrefix.toLowerCase()}-`];
  const out = new Headers();
  given.forEach((value, name) => {
    const isLeftOut = hopByHop.includes(name) || ownOfCaller.includes(name) || named.includes(name);
    if (!isLeftOut && !own.some((start) => name.startsWith(start))) out.append(name, value);
  });
  out.set("X-Forwarded-For", client);
  out.set("X-Forwarded-Prefix", base);
  return out;
}

/** Headers of the answer of a container. What it serves runs no script and cannot act as the page that it is under. */
export function answeredHeaders(given: Headers, { origin, base }: { origin: string; base: string }): Headers {
  const out = new Headers();
  given.forEach((value, name) => {
    if (name !== "location" && ownOfAnswer.has(name)) out.append(name, value);
  });
  const location = given.get("location");
  if (location !== null) out.set("Location", movedLocation(location, { origin, base }));
  if (!out.has("Cache-Control")) out.set("Cache-Control", "no-store");
  out.set("Content-Security-Policy", "sandbox");
  out.set("X-Content-Type-Options", "nosniff");
  out.set("Cross-Origin-Resource-Policy", "same-origin");
  out.set("Referrer-Policy", "no-referrer");
  return out;
}

/** A path of the container is below `base` for the caller. */
function movedLocation(location: string, { origin, base }: { origin: string; base: string }): string {
  if (location.startsWith(`${origin}/`)) return `${base}${location.slice(origin.length)}`;
  return location.startsWith("/") && !location.startsWith("//") ? `${base}${location}` : location;
}

/** Whether a page would run what comes as a program of its own: a script, a worker. */
export function wantsProgram(headers: Headers): boolean {
  const kind = headers.get("sec-fetch-dest") ?? "";
  return /script|worker|worklet/.test(kind);
}
