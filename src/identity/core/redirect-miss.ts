const shownMax = 300;

/** An address that was asked for, as an operator may read it: what its query holds is left out, and what its user knows. */
export function shownRedirect(text: string): string {
  const [address = "", ...query] = text.replace(/\p{C}/gu, "\u{fffd}").split("?");
  const plain = address.replace(/^(https?:\/\/)[^/@]*@/i, "$1…@");
  const names = query
    .join("?")
    .split("&")
    .map((pair) => pair.replace(/=.*$/s, "=…"));
  return `${plain}${query.length === 0 ? "" : `?${names.join("&")}`}`.slice(0, shownMax).toWellFormed();
}

/** Why an address is none of those that are listed: the part in which the nearest one differs. */
export function redirectMiss(url: URL, listed: readonly URL[]): string {
  if (listed.length === 0) return "the instance lists no address: add it with --redirect";
  const [nearest] = listed
    .map((entry) => ({ entry, parts: differences(url, entry) }))
    .sort((a, b) => a.parts.reduce(weigh, 0) - b.parts.reduce(weigh, 0));
  const part = nearest?.parts.at(-1);
  if (nearest === undefined || part === undefined) return "the address is not on the list of the instance";
  const { entry } = nearest;
  const [asked, known] = [partOf(url, part), partOf(entry, part)];
  const miss = `its ${part} is "${asked}"; the nearest address on the list, ${entry.origin}${entry.pathname}, has "${known}"`;
  // RFC 8252, section 8.3: what a name leads to is for the machine to say.
  const isNamed = part === "port" && entry.hostname === "localhost";
  return isNamed
    ? `${miss}. localhost matches only its listed port: list this one, or http://127.0.0.1, which matches any`
    : miss;
}

type Part = "path" | "port" | "scheme" | "host";

/** Heavier ones come last. */
const weights: Record<Part, number> = { path: 1, port: 2, scheme: 4, host: 8 };

const weigh = (sum: number, part: Part) => sum + weights[part];

function differences(url: URL, entry: URL): Part[] {
  const parts: Part[] = ["path", "port", "scheme", "host"];
  return parts.filter((part) => partOf(url, part) !== partOf(entry, part));
}

function partOf({ protocol, hostname, port, pathname }: URL, part: Part): string {
  switch (part) {
    case "path":
      return pathname;
    case "port":
      return port || (protocol === "https:" ? "443" : "80");
    case "scheme":
      return protocol.slice(0, -1);
    case "host":
      return hostname;
  }
}
