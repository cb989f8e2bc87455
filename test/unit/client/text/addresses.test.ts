import { expect, test } from "bun:test";
import { addressesOf } from "../../../../src/client/text/addresses.ts";

const standard = { http: ["0.0.0.0:80", "[::]:80"], https: ["0.0.0.0:443", "[::]:443"] };
const own = { http: ["127.0.0.1:8080"], https: ["[::]:8443", "0.0.0.0:8443"] };

test.each([
  [{ host: "a.example.com", tls: {} }, ["https://a.example.com"]],
  [{ host: "a.example.com" }, ["http://a.example.com"]],
  [{ host: "a.example.com", tls: { enabled: false } }, ["http://a.example.com"]],
  [{ host: "a", hosts: ["B", "a", "*.c"], tls: {} }, ["https://a", "https://b"]],
  [{ tcp: { port: 6379 } }, []],
])("%j", (spec, addresses) => {
  expect(addressesOf(spec, standard)).toEqual(addresses);
  expect(addressesOf(spec, undefined)).toEqual(addresses);
});

test.each([
  [{ host: "a", tls: {} }, own, "https://a:8443"],
  [{ host: "a" }, own, "http://a:8080"],
  [{ host: "a", tls: {} }, { http: [], https: [] }, "https://a"],
  [{ host: "a", tls: {} }, { http: [], https: ["127.0.0.1:8443", "192.0.2.1:443"] }, "https://a"],
  [{ host: "a" }, { http: ["127.0.0.1:443"], https: [] }, "http://a:443"],
  [{ host: "a", tls: {}, plugin: "front" }, own, "https://a"],
])("%j where the proxy listens on %j", (spec, listen, address) => {
  expect(addressesOf(spec, listen)).toEqual([address]);
});
