import { BlockList } from "node:net";

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

/** Inside 2000::/3, the only range of IPv6 that is open at all. */
const closedIpv6: readonly [string, number][] = [
  // Protocol assignments, Teredo, ORCHID.
  ["2001::", 23],
  ["2001:db8::", 32],
  // 6to4 carries an IPv4 address that is not checked.
  ["2002::", 16],
  ["3fff::", 20],
];

/** Networks of IPv6 whose last 32 bits are the IPv4 address that is really meant. */
const carriersOfIpv4 = ["::ffff:", "64:ff9b::"];

const openIpv6 = listOf("ipv6", [["2000::", 3], ...carriersOfIpv4.map((head): [string, number] => [`${head}0:0`, 96])]);
const closed = {
  ipv4: listOf("ipv4", closedIpv4),
  ipv6: listOf("ipv6", [
    ...closedIpv6,
    ...carriersOfIpv4.flatMap((head) =>
      closedIpv4.map(([base, bits]): [string, number] => [`${head}${base}`, 96 + bits]),
    ),
  ]),
};

export function isPublicIpv4(address: string): boolean {
  return !closed.ipv4.check(address, "ipv4");
}

/** Takes a text that is known to be an IPv6 address; a zone (`%eth0`) is left out. */
export function isPublicIpv6(address: string): boolean {
  const bare = address.split("%")[0] ?? "";
  return openIpv6.check(bare, "ipv6") && !closed.ipv6.check(bare, "ipv6");
}

function listOf(family: "ipv4" | "ipv6", networks: readonly [string, number][]): BlockList {
  const list = new BlockList();
  for (const [base, bits] of networks) list.addSubnet(base, bits, family);
  return list;
}
