import { describe, expect, test } from "bun:test";
import { allowedAddresses, isPublicAddress, type Resolve } from "../../../../src/base/deliver/address-guard.ts";
import { expectFailure } from "../../../support/failure.ts";

const closed = [
  // This machine and this network.
  "0.0.0.0",
  "0.1.2.3",
  "127.0.0.1",
  "127.255.255.254",
  "10.0.0.1",
  "10.255.255.255",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.0.1",
  "192.168.255.255",
  // Link-local, metadata services.
  "169.254.169.254",
  "169.254.170.2",
  "169.254.0.1",
  "168.63.129.16",
  "192.0.0.192",
  "100.100.100.200",
  // Carriers.
  "100.64.0.1",
  "100.127.255.255",
  // Documentation, benchmarks, relays.
  "192.0.2.1",
  "198.51.100.7",
  "203.0.113.9",
  "198.18.0.1",
  "198.19.255.255",
  "192.88.99.1",
  // Multicast, reserved, broadcast.
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  // IPv6.
  "::",
  "::1",
  "::7f00:1",
  "::127.0.0.1",
  "fe80::1",
  "fe80::1%eth0",
  "febf::1",
  "fec0::1",
  "fc00::1",
  "fd00:ec2::254",
  "fdff:ffff::1",
  "ff02::1",
  "ff0e::1",
  "100::1",
  "2001::1",
  "2001:db8::1",
  "2001:10::1",
  "2002:7f00:1::",
  "2002:0808:0808::1",
  "3fff::1",
  "5f00::1",
  "4000::1",
  // IPv4 in IPv6.
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:10.1.2.3",
  "::ffff:169.254.169.254",
  "0:0:0:0:0:ffff:c0a8:0101",
  "64:ff9b::127.0.0.1",
  "64:ff9b::a9fe:a9fe",
  "64:ff9b:1::8.8.8.8",
  // No addresses at all.
  "",
  "localhost",
  "1.2.3",
  "1.2.3.4.5",
  "01.2.3.4",
  "[::1]",
];

const open = [
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.1",
  "100.63.255.255",
  "100.128.0.1",
  "126.255.255.255",
  "128.0.0.1",
  "168.63.129.15",
  "168.63.129.17",
  "169.253.255.255",
  "169.255.0.1",
  "172.15.255.255",
  "172.32.0.1",
  "192.0.1.1",
  "192.167.255.255",
  "192.169.0.1",
  "198.17.255.255",
  "198.20.0.1",
  "223.255.255.255",
  "2606:4700:4700::1111",
  "2001:4860:4860::8888",
  "2a00:1450:4001:801::200e",
  "::ffff:8.8.8.8",
  "64:ff9b::8.8.8.8",
  "64:ff9b::808:808",
];

describe("addresses", () => {
  test.each(closed)("%p is not of the open internet", (address) => expect(isPublicAddress(address)).toBe(false));
  test.each(open)("%p is", (address) => expect(isPublicAddress(address)).toBe(true));
});

/** Hosts as a manifest may write them, and what the address of the URL makes of them. */
const disguised = [
  "http://localhost/",
  "http://localhost./",
  "http://127.1/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://0177.0.0.1/",
  "http://0/",
  "http://[::1]/",
  "http://[::]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[0:0:0:0:0:ffff:7f00:1]/",
  "http://①②⑦.⓪.⓪.①/",
  "http://127.0.0.1.nip.test/",
  "http://user:pw@169.254.169.254/latest/",
  "http://metadata.google.internal/",
];

const zone: Record<string, string[]> = {
  localhost: ["127.0.0.1", "::1"],
  "localhost.": ["127.0.0.1"],
  "127.0.0.1.nip.test": ["127.0.0.1"],
  "metadata.google.internal": ["169.254.169.254"],
  "a.test": ["2606:4700:4700::1111", "1.1.1.1"],
  "mixed.test": ["10.0.0.1", "8.8.8.8", "::1"],
  "none.test": [],
  "odd.test": ["not an address"],
};

const resolve: Resolve = async (hostname) => {
  const found = zone[hostname];
  if (found === undefined) throw new Error("ENOTFOUND");
  return found;
};
const never: Resolve = () => Promise.reject(new Error("nothing to look up"));
const strict = { resolve, allowPrivate: false };

describe("hosts", () => {
  test.each(disguised)("%s is refused", async (url) => {
    await expectFailure(allowedAddresses(new URL(url).hostname, strict), "forbidden");
  });

  test.each(disguised)("%s is fine where the configuration allows it", async (url) => {
    const allowed = await allowedAddresses(new URL(url).hostname, { resolve, allowPrivate: true });
    expect(allowed.length).toBeGreaterThan(0);
  });

  test("come with their open addresses, IPv4 first", async () => {
    expect(await allowedAddresses("a.test", strict)).toEqual(["1.1.1.1", "2606:4700:4700::1111"]);
    expect(await allowedAddresses("mixed.test", strict)).toEqual(["8.8.8.8"]);
  });

  test("that are addresses are not looked up", async () => {
    expect(await allowedAddresses("1.1.1.1", { resolve: never, allowPrivate: false })).toEqual(["1.1.1.1"]);
    const v6 = await allowedAddresses("[2606:4700:4700::1111]", { resolve: never, allowPrivate: false });
    expect(v6).toEqual(["2606:4700:4700::1111"]);
  });

  test.each(["none.test", "odd.test", "unknown.test"])("%s has no address: another try may find one", async (host) => {
    const failure = await expectFailure(allowedAddresses(host, strict), "unavailable");
    expect(failure.message).toContain(`"${host}"`);
  });

  test("a refusal says the address and the way out", async () => {
    const { message } = await expectFailure(allowedAddresses("localhost", strict), "forbidden");
    expect(message).toBe(
      'the host "localhost" has no public address (127.0.0.1); serve with --allow-private-hooks to allow it',
    );
  });
});
