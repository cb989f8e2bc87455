import { expect, test } from "bun:test";
import { below, crumbs, fateOf, mountOf, shownName, textOf } from "../../../../src/ui/text/files.ts";
import { commandOf, previewOf } from "../../../../src/ui/text/shell.ts";

const volume = { type: "volume", source: "berth-shop-web-data-0", destination: "/data", rw: true };
const asset = { type: "bind", source: "/opt/berth/assets/x", destination: "/data/conf", rw: false };

test("the steps to a folder", () => {
  expect(crumbs("/etc/nginx").map((one) => one.path)).toEqual(["/", "/etc", "/etc/nginx"]);
  expect([below("/", "a"), below("/etc", "a")]).toEqual(["/a", "/etc/a"]);
});

test("a path lies on the longest mount above it", () => {
  expect(mountOf("/data/conf/a", [volume, asset])).toBe(asset);
  expect(mountOf("/data", [volume, asset])).toBe(volume);
  expect(mountOf("/database", [volume, asset])).toBeUndefined();
});

test("what becomes of a file is said", () => {
  expect(fateOf("/tmp", [volume])).toMatchObject({
    ends: true,
    text: expect.stringContaining("gone with the replica"),
  });
  expect(fateOf("/data/in", [volume])).toMatchObject({
    ends: false,
    text: expect.stringContaining("volume berth-shop"),
  });
  expect(fateOf("/data/conf", [volume, asset]).text).toContain("cannot be written to");
  expect(fateOf("/run", [{ ...volume, type: "tmpfs", destination: "/run" }]).ends).toBe(true);
});

test("a name is one line, and turns no text around", () => {
  expect(shownName("a\nb\u001b[31m\u202ec\u007f")).toBe("a␊b␛[31m\ufffdc␡");
});

test("bytes that are no text are told from text that is cut within a letter", () => {
  const bytes = new TextEncoder().encode("grün");
  expect(textOf(bytes.subarray(0, 3))).toBe("gr");
  expect(textOf(new Uint8Array([0, 1]))).toBeUndefined();
  expect(textOf(new Uint8Array([0xff, 0x41]))).toBeUndefined();
});

test("without a command a shell is looked for", () => {
  expect(commandOf(" ")[2]).toContain("exec bash");
  expect(commandOf("ls -l | wc")).toEqual(["sh", "-c", "ls -l | wc"]);
});

test("a paste is shown in part", () => {
  expect(previewOf("a\r\nb\n")).toEqual({ lines: ["a", "b"], more: 0 });
  expect(previewOf("x\n".repeat(10))).toMatchObject({ more: 2 });
});
