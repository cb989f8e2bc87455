import { Glob } from "bun";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { localCommands } from "../../../src/client/basics/local-commands.ts";
import { verbs } from "../../../src/client/entry/table.ts";

const ui = join(import.meta.dir, "../../../src/ui");

test("every command that a page shows is one of the client", async () => {
  const known = new Set<string>([...verbs, ...localCommands].map(({ name }) => name));
  const unknown: string[] = [];
  let count = 0;
  for (const path of new Glob("**/*.{ts,tsx}").scanSync(ui)) {
    const text = await Bun.file(join(ui, path)).text();
    for (const [, verb = ""] of text.matchAll(/["`>]berth ([a-z]+)/g)) {
      count++;
      if (!known.has(verb)) unknown.push(`${path}: berth ${verb}`);
    }
  }
  expect(unknown).toEqual([]);
  expect(count).toBeGreaterThan(10);
});
