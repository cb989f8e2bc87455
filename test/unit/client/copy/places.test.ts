import { expect, test } from "bun:test";
import { readPlace } from "../../../../src/client/copy/places.ts";

test.each([
  ["dump.sql", "dump.sql"],
  ["./a:b", "./a:b"],
  ["/tmp/a:b", "/tmp/a:b"],
  ["../x", "../x"],
  ["~/x:y", "~/x:y"],
  [":x", ":x"],
])("%s is here", (text, path) => {
  expect(readPlace(text)).toEqual({ kind: "local", path });
});

test.each([
  ["shop/web:/etc/app", "shop/web", "/etc/app", "app", "/etc", false],
  ["shop-web.k3x7a:/a//b/./c/", "shop-web.k3x7a", "/a/b/c", "c", "/a/b", true],
  ["web:/", "web", "/", "", "/", true],
  ["web:/x", "web", "/x", "x", "/", false],
])("%s is in a pod", (text, reference, path, name, folder, mustBeFolder) => {
  expect(readPlace(text)).toEqual({ kind: "pod", reference, path, name, folder, mustBeFolder });
});

test.each([["shop/web:etc"], ["shop/web:"], ["web:/a/../b"]])("%p is wrong usage, with the way out", (text) => {
  expect(() => readPlace(text)).toThrow(`write an absolute path without .. after the colon, or ./${text}`);
});
