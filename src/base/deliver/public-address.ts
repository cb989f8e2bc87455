/** Ranges that are not of the open internet (IANA special-purpose registries, RFC 6890), as base address and bits. */
const closedIpv4: readonly [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  // Shared by carriers; also where some clouds keep their metadata.
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Link-local; the metadata service of most clouds.
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  // Multicast, reserved, broadcast.
  ["224.0.0.0", 3],
  // The platform service of Azure, on an address that looks public.
  ["168.63.129.16", 32],
];

/** Inside 2000::/3, the only range that is open at all. */
const closedIpv6: readonly [string, number][] = [
  // Protocol assignments, Teredo, ORCHID.
  ["2001::", 23],
  ["2001:db8::", 32],
  // 6to4 carries an IPv4 address that nobody has checked.
  ["2002::", 16],
  ["3fff::", 20],
];

/** Addresses whose last 32 bits are the IPv4 address that is really meant. */
const carriersOfIpv4: readonly [string, number][] = [
  ["::ffff:0:0", 96],
  ["64:ff9b::", 96],
];

export function isPublicIpv4(address: string): boolean {
  return isOpenIpv4(ipv4Bits(address));
}

export function isPublicIpv6(address: string): boolean {
  const bits = ipv6Bits(address);
  if (contains(carriersOfIpv4, bits)) return isOpenIpv4(bits & 0xffff_ffffn);
  return bits >> 125n === 1n && !contains(closedIpv6, bits);
}

function isOpenIpv4(bits: bigint): boolean {
  return !closedIpv4.some(([base, prefix]) => bits >> BigInt(32 - prefix) === ipv4Bits(base) >> BigInt(32 - prefix));
}

function contains(ranges: readonly [string, number][], bits: bigint): boolean {
  return ranges.some(([base, prefix]) => bits >> BigInt(128 - prefix) === ipv6Bits(base) >> BigInt(128 - prefix));
}

function ipv4Bits(address: string): bigint {
  return address.split(".").reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

/** Of a text that is known to be an IPv6 address; a zone (`%eth0`) is left out. */
function ipv6Bits(address: string): bigint {
  const [head = "", tail] = withoutZone(address).split("::");
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = new Array<bigint>(8 - before.length - after.length).fill(0n);
  return [...before, ...zeros, ...after].reduce((bits, group) => (bits << 16n) | group, 0n);
}

function withoutZone(address: string): string {
  return address.split("%")[0] ?? "";
}

/** The last group may be written as an IPv4 address. */
function groups(text: string): bigint[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [BigInt(`0x${group}`)];
    const bits = ipv4Bits(group);
    return [bits >> 16n, bits & 0xffffn];
  });
}
