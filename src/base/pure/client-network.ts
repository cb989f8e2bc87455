/**
 * The network that one client holds: an IPv4 address, or the /64 of an IPv6 address (RFC 6177), of which a client may
 * use any address it likes. `wide` is the /48 around it, which a single customer may hold too.
 */
interface ClientNetwork {
  near: string;
  wide: string | undefined;
}

/** The network of an address, or of a `near` that was noted before. */
export function clientNetwork(ip: string): ClientNetwork {
  const groups = groupsOf(ip.toLowerCase().replace(/\/64$/, ""));
  if (groups === undefined || isMapped(groups)) return { near: ip, wide: undefined };
  return { near: `${groups.slice(0, 4).join(":")}::/64`, wide: `${groups.slice(0, 3).join(":")}::/48` };
}

const groupCount = 8;

/** The 16-bit groups of an IPv6 address, without leading zeros; undefined for any other text. */
function groupsOf(ip: string): string[] | undefined {
  const [address = ""] = ip.split("%");
  if (!/^[0-9a-f:]+$/.test(address) || !address.includes(":")) return undefined;
  const [head = "", tail] = address.split("::");
  const left = partsOf(head);
  const right = tail === undefined ? [] : partsOf(tail);
  const missing = groupCount - left.length - right.length;
  if (missing < 0 || (tail === undefined && missing > 0)) return undefined;
  return [...left, ...Array<string>(missing).fill("0"), ...right];
}

function partsOf(text: string): string[] {
  return text === "" ? [] : text.split(":").map((part) => part.replace(/^0+(?=.)/, ""));
}

/** IPv4 in hexadecimal groups (`::ffff:102:304`): the first half says nothing there. */
function isMapped(groups: readonly string[]): boolean {
  return groups.slice(0, 5).every((group) => group === "0") && groups[5] === "ffff";
}
