import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asUser, createConfinement } from "../../../../src/orchestration/plugins/confinement.ts";

const above = mkdtempSync(join(tmpdir(), "confinement-"));
const folder = join(above, "plugins");
const program = join(above, "program");
mkdirSync(folder);
writeFileSync(program, "");
chmodSync(above, 0o711);
chmodSync(folder, 0o711);
chmodSync(program, 0o755);
afterAll(() => rmSync(above, { recursive: true, force: true }));

const machine = { setpriv: "/usr/bin/setpriv", uid: 0, owner: "me", folder, programs: [program] };
const low = { actions: [], scopes: ["*"], docker: false, root: false };
const pg = { name: "pg", permissions: low, isBundled: false };

test("a plugin has a user of its own, the same each time, and another one in another installation", () => {
  const { userOf, lacks } = createConfinement(machine);
  const user = userOf(pg) ?? 0;
  expect(lacks).toEqual([]);
  expect(user).toBeGreaterThanOrEqual(2_000_000_000);
  expect(user).toBeLessThan(2_100_000_000);
  expect(createConfinement(machine).userOf(pg)).toBe(user);
  expect(userOf({ ...pg, name: "redis" })).not.toBe(user);
  expect(createConfinement({ ...machine, owner: "you" }).userOf(pg)).not.toBe(user);
});

test("root, the engine, and a grant that says nothing of root are the server's user", () => {
  const { userOf } = createConfinement(machine);
  const { root: _, ...before } = low;
  for (const permissions of [{ ...low, root: true }, { ...low, docker: true }, before]) {
    expect(userOf({ ...pg, permissions })).toBeUndefined();
  }
});

test("what the machine lacks is told, and nobody has a user then", () => {
  for (const [change, text] of [
    [{ uid: 1000 }, "the server is not root"],
    [{ setpriv: null }, "setpriv is missing (install util-linux)"],
    [{ folder: join(above, "absent") }, "other users may not enter"],
  ] as const) {
    const { userOf, lacks } = createConfinement({ ...machine, ...change });
    expect(lacks).toEqual([expect.stringContaining(text)]);
    expect(userOf(pg)).toBeUndefined();
  }
  chmodSync(program, 0o700);
  const closed = createConfinement(machine);
  chmodSync(program, 0o755);
  expect([closed.lacks, closed.lacksBundled]).toEqual([[], [expect.stringContaining("bundled plugins run as root")]]);
  expect(closed.userOf({ ...pg, isBundled: true })).toBeUndefined();
  expect(closed.userOf(pg)).toBeNumber();
});

test("words of a plugin are never taken for those of setpriv", () => {
  expect(asUser("/usr/bin/setpriv", 7, ["/p/bin/go", "--reuid=0"]).slice(-3)).toEqual(["--", "/p/bin/go", "--reuid=0"]);
});
