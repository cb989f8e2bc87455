import { expect, test } from "bun:test";
import { isPublicAddress, observabilityOptions } from "../../../src/config/observability-options.ts";

test.each([
  [undefined, { kind: "off" }],
  ["off", { kind: "off" }],
  ["self-signed", { kind: "self-signed" }],
  ["/etc/a.pem, /etc/b.pem", { kind: "files", certificate: "/etc/a.pem", key: "/etc/b.pem" }],
] as const)("observability tls %p is read", (text, expected) => {
  const env = text === undefined ? {} : { BERTH_OBSERVABILITY_TLS: text };
  expect(observabilityOptions({}, env).observabilityTls).toEqual(expected);
});

test.each(["on", "a.pem", "a.pem,", "a,b,c"])("observability tls %p is refused", (observabilityTls) => {
  expect(() => observabilityOptions({ observabilityTls }, {})).toThrow("is not off, self-signed or");
});

test.each([
  ["0.0.0.0:8687", true],
  [":8687", true],
  ["[::]:8687", true],
  ["192.0.2.1:8687", true],
  ["127.0.0.1:8687", false],
  ["[::1]:8687", false],
  ["localhost:1", false],
])("%s is reached by others: %p", (address, expected) => {
  expect(isPublicAddress(address)).toBe(expected);
});
