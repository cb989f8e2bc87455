import { expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lockRepository } from "../../../../src/local/push/lock.ts";
import { folder } from "../../../support/files.ts";

test("one push at a time; the next one may when it has ended", () => {
  using place = folder({});
  const release = lockRepository(place.path, "shop");
  expect(() => lockRepository(place.path, "shop")).toThrow("another push to shop is being deployed");
  release();
  lockRepository(place.path, "shop")();
  expect(existsSync(join(place.path, "berth.lock"))).toBe(false);
});

test("of many processes that find the lock of one that is gone, one gets it", async () => {
  using place = folder({});
  writeFileSync(join(place.path, "berth.lock"), "999999999");
  const module = join(import.meta.dir, "../../../../src/local/push/lock.ts");
  const script = `
    const { lockRepository } = await import(${JSON.stringify(module)});
    try { lockRepository(${JSON.stringify(place.path)}, "shop"); console.log("got"); } catch { console.log("refused"); }
    // The lock of a process that is gone would be free again.
    process.stdin.on("end", () => process.exit()).resume();`;
  const runs = Array.from({ length: 5 }, () =>
    Bun.spawn([process.execPath, "-e", script], { stdin: "pipe", stdout: "pipe", stderr: "inherit" }),
  );
  const said = await Promise.all(
    runs.map(async (run) => {
      for await (const part of run.stdout) return new TextDecoder().decode(part).trim();
      return "";
    }),
  );
  for (const run of runs) await run.stdin.end();
  await Promise.all(runs.map((run) => run.exited));
  expect(said.sort()).toEqual(["got", "refused", "refused", "refused", "refused"]);
  expect(readdirSync(place.path)).toEqual(["berth.lock"]);
});

test.each([["999999999"], ["rubbish"], [""]])("a lock of a process that is gone (%j) is taken over", (text) => {
  using place = folder({});
  writeFileSync(join(place.path, "berth.lock"), text);
  lockRepository(place.path, "shop")();
});
