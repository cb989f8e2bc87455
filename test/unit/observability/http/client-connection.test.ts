import { expect, test } from "bun:test";
import { createClientConnection } from "../../../../src/observability/http/client-connection.ts";

const connect = (peer: string, headers: Record<string, string>, trusted: string[] = []) =>
  createClientConnection({ peerOf: () => peer, trusted, hopsMax: 16 })(new Request("http://x.test/", { headers }));
const caddy = { "X-Forwarded-For": "198.51.100.1" };

test.each([
  ["a client of this machine", "127.0.0.1", {}, [], true],
  ["the end of a tunnel on IPv6", "::1", {}, [], true],
  ["a client of the network", "198.51.100.1", {}, [], false],
  ["a proxy of this machine that nobody listed", "127.0.0.1", caddy, [], false],
  ["a listed proxy without TLS", "127.0.0.1", caddy, ["127.0.0.1"], false],
  ["a listed proxy with TLS", "127.0.0.1", { ...caddy, "X-Forwarded-Proto": "https" }, ["127.0.0.1"], true],
  ["a proxy that nobody listed, which says TLS", "127.0.0.1", { ...caddy, "X-Forwarded-Proto": "https" }, [], false],
  [
    "a listed proxy whose client calls itself this machine",
    "127.0.0.1",
    { "X-Forwarded-For": "127.0.0.1" },
    ["127.0.0.1"],
    false,
  ],
  ["a proxy that writes only Forwarded", "127.0.0.1", { Forwarded: "for=198.51.100.1" }, [], false],
  ["a proxy that writes only Via", "127.0.0.1", { Via: "1.1 proxy" }, [], false],
] as const)("%s is private: %#", (_who, peer, headers, trusted, isPrivate) => {
  expect(connect(peer, headers, [...trusted]).isPrivate).toBe(isPrivate);
});
