import { expect, test } from "bun:test";
import { instanceUrl, isLoopbackHost } from "../../../../src/identity/core/urls.ts";

test("names that never leave the machine", () => {
  for (const host of ["localhost", "a.localhost", "127.0.0.1", "127.1.2.3", "[::1]"])
    expect(isLoopbackHost(host)).toBe(true);
  for (const host of ["localhost.test", "127.0.0.1.test", "128.0.0.1", "[::2]", ""])
    expect(isLoopbackHost(host)).toBe(false);
});

test("an instance is at its host, or below the base", () => {
  const at = (base: string, host?: string) => instanceUrl(base, { id: "inst_a", host });
  expect(at("https://id.test")).toBe("https://id.test/i/inst_a");
  expect(at("https://id.test", "login.shop.test")).toBe("https://login.shop.test");
  expect(at("http://127.0.0.1:8688", "login.shop.test")).toBe("https://login.shop.test");
  expect(at("http://127.0.0.1:8688", "shop.localhost")).toBe("http://shop.localhost:8688");
  expect(at("http://127.0.0.1", "shop.localhost")).toBe("http://shop.localhost");
  expect(at("https://id.test", "shop.localhost")).toBe("https://shop.localhost");
});
