import { afterAll, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prefixLink } from "../../../../src/local/server/prefix-link.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-link."));
const executable = join(folder, "berth");
afterAll(() => rmSync(folder, { recursive: true }));

test("the link leads to the executable, is made once, and goes again", () => {
  const link = prefixLink(executable, "yard");
  link.make();
  link.make();
  expect(readlinkSync(join(folder, "yard"))).toBe(executable);
  link.remove();
  link.remove();
  expect(existsSync(join(folder, "yard"))).toBe(false);
});

test("what is somebody else's stays as it is", () => {
  writeFileSync(join(folder, "theirs"), "theirs");
  symlinkSync("/bin/true", join(folder, "other"));
  for (const name of ["theirs", "other"]) {
    const link = prefixLink(executable, name);
    expect(() => link.make()).toThrow(`${join(folder, name)} is another program`);
    link.remove();
  }
  expect(readFileSync(join(folder, "theirs"), "utf8")).toBe("theirs");
  expect(lstatSync(join(folder, "other")).isSymbolicLink()).toBe(true);
});

test("the executable is no link to itself", () => {
  expect(() => prefixLink(executable, "berth").make()).toThrow("add --prefix");
});
