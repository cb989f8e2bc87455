import { describe, expect, test } from "bun:test";
import { createClientAddress, createTrust } from "../../../../src/base/http/client-address.ts";
import { ingressWord } from "../../../../src/base/http/ingress-word.ts";
import { secret } from "../../../../src/base/words/secret.ts";

const trusted = ["127.0.0.1/32", "::1/128", "10.0.0.0/8"];

function client(peer: string, forwarded?: string, hopsMax = 16): string {
  const headers: Record<string, string> = forwarded === undefined ? {} : { "X-Forwarded-For": forwarded };
  return createClientAddress({ peerOf: () => peer, trusted, hopsMax })(new Request("http://localhost/", { headers }));
}

test.each([
  ["nobody forwards", "203.0.113.5", undefined, "203.0.113.5"],
  ["a stranger may write what it likes", "203.0.113.5", "1.1.1.1", "203.0.113.5"],
  ["our ingress is believed", "127.0.0.1", "203.0.113.5", "203.0.113.5"],
  [
    "the rightmost that is not ours counts, not what a client wrote before it",
    "127.0.0.1",
    "1.1.1.1, 203.0.113.5, 10.1.2.3",
    "203.0.113.5",
  ],
  ["IPv6, also in brackets with a port", "::1", "[2001:db8::7]:443", "2001:db8::7"],
  ["IPv4 with a port", "::1", "203.0.113.5:4711", "203.0.113.5"],
  ["IPv4 as a socket of both families tells it", "::ffff:127.0.0.1", "::ffff:203.0.113.5", "203.0.113.5"],
  ["IPv4 in other spellings of the same IPv6", "::ffff:127.0.0.1", "::FFFF:CB00:7105", "203.0.113.5"],
  ["IPv4 mapped and written out", "127.0.0.1", "0:0:0:0:0:ffff:203.0.113.5", "203.0.113.5"],
  ["IPv6 in its one spelling", "127.0.0.1", "2001:DB8:0:0::1", "2001:db8::1"],
  ["all are ours", "127.0.0.1", "10.0.0.1, 10.0.0.2", "10.0.0.1"],
  ["garbage ends the chain", "127.0.0.1", "evil, 10.0.0.2", "10.0.0.2"],
  ["empty", "127.0.0.1", "", "127.0.0.1"],
])("%s", (_name, peer, forwarded, expected) => expect(client(peer, forwarded)).toBe(expected));

test("only so many entries are looked at, from the right", () => {
  expect(client("127.0.0.1", `203.0.113.5${", 10.0.0.1".repeat(3)}`, 2)).toBe("10.0.0.1");
});

describe("a network that is none stops the start", () => {
  test.each(["x", "10.0.0.0/33", "10.0.0.0/x", "10.0.0/8", "::1/129", ""])("%p", (network) => {
    const make = () => createClientAddress({ peerOf: () => "", trusted: [network], hopsMax: 1 });
    expect(make).toThrow(`trusted proxy "${network}"`);
  });
});

test("a proxy of the own network that is not believed is told once, a stranger's header never", () => {
  const told: string[] = [];
  let peer = "203.0.113.7";
  const trusted = ["127.0.0.1/32"];
  const clientOf = createClientAddress({ peerOf: () => peer, trusted, hopsMax: 16, onIgnored: (ip) => told.push(ip) });
  const ask = (headers: Record<string, string> = { "X-Forwarded-For": "198.51.100.1" }) =>
    clientOf(new Request("http://x.test/", { headers }));
  expect(ask()).toBe("203.0.113.7");
  peer = "127.0.0.1";
  expect(ask()).toBe("198.51.100.1");
  peer = "172.18.0.2";
  expect([ask({}), told]).toEqual(["172.18.0.2", []]);
  expect([ask(), ask(), told]).toEqual(["172.18.0.2", "172.18.0.2", ["172.18.0.2"]]);
});

test("our own ingress is believed by its word, whatever its address; a wrong word, or none, is not", () => {
  const key = secret(new Uint8Array(32).fill(7));
  const ingress = ingressWord(key, "X-Berth");
  const parts = { peerOf: () => "127.0.0.1", trusted: [], hopsMax: 16, ingress };
  const asked = (word: string | undefined) => {
    const headers = { "X-Forwarded-For": "198.51.100.1", ...(word === undefined ? {} : { "X-Berth-Ingress": word }) };
    const request = new Request("http://x.test/", { headers });
    return [createClientAddress(parts)(request), createTrust(parts)(request)];
  };
  expect(asked(ingress.word.reveal())).toEqual(["198.51.100.1", true]);
  const others = [
    undefined,
    "",
    "x",
    `${ingress.word.reveal()}x`,
    ingressWord(secret(new Uint8Array(32)), "X-Berth").word.reveal(),
  ];
  for (const word of others) expect(asked(word)).toEqual(["127.0.0.1", false]);
  // The next server has the same word: the proxy that runs keeps it.
  expect(ingressWord(key, "X-Berth").word.reveal()).toBe(ingress.word.reveal());
  expect(JSON.stringify(ingress)).not.toContain(ingress.word.reveal());
});
