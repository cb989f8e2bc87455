import { expect, test } from "bun:test";
import { addressesOf } from "../../../../src/client/text/addresses.ts";

test.each([
  [{ host: "a.example.com", tls: {} }, ["https://a.example.com"]],
  [{ host: "a.example.com" }, ["http://a.example.com"]],
  [{ host: "a.example.com", tls: { enabled: false } }, ["http://a.example.com"]],
  [{ host: "a", hosts: ["B", "a", "*.c"], tls: {} }, ["https://a", "https://b"]],
  [{ tcp: { port: 6379 } }, []],
])("%j", (spec, addresses) => {
  expect(addressesOf(spec)).toEqual(addresses);
});
