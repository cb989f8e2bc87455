import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unreadable } from "../../../../src/client/remote/remotes.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-unreadable-"));
const file = join(folder, "remotes.json");
writeFileSync(file, "{}");
const { uid, gid } = statSync(file);
afterAll(() => rmSync(folder, { recursive: true }));

test("a file of another user is named with its owner and the command that gives it back", () => {
  const { message } = unreadable(file, "EACCES", { uid: uid + 1, gid: 7 });
  const whose = uid === 0 ? "root" : `user ${uid}`;
  expect(message).toBe(
    `cannot read ${file}: it belongs to ${whose}; to make it readable: sudo chown -R ${uid + 1}:7 ${file}`,
  );
});

test("a file of this user is made readable without sudo", () => {
  expect(unreadable(file, "EACCES", { uid, gid }).message).toEndWith(`to make it readable: chmod -R u+rwX ${file}`);
});

test("the home of another user is not given away", () => {
  const { message } = unreadable(join(folder, "none/remotes.json"), "EACCES", { uid: uid + 1, gid: 7 });
  expect(message).toContain("check HOME and XDG_CONFIG_HOME");
  expect(message).not.toContain("chown");
});

test("what is no matter of permissions is told as it is", () => {
  expect(unreadable(file, "EISDIR", { uid, gid }).message).toBe(`cannot read ${file}: EISDIR`);
});
