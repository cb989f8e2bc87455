import { expect, test } from "bun:test";
import { join } from "node:path";

const main = join(import.meta.dir, "../../../src/main.ts");

test.each([
  ...["serve", "doctor", "server", "server install", "server upgrade", "server restore", "self-update", "move"],
  ...["backup ./file", "restore", "hooks secret", "plugins lint", "plugins test"],
])("the help of berth %s fits a terminal", async (words) => {
  const child = Bun.spawn([process.execPath, main, ...words.split(" "), "--help"], {
    ...{ stdout: "pipe", stderr: "ignore", env: { ...process.env, BERTH_ROOT: "/nowhere" } },
  });
  const text = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  expect(text).toContain("usage");
  expect(text.split("\n").filter((line) => line.length > 100)).toEqual([]);
});
