import { expect, test } from "bun:test";
import { join } from "node:path";

const commands = join(import.meta.dir, "../../../../src/client/commands");

/** A yes that means more than "do it" has a flag of its own, which the question names. */
const others = ["alerts/channel.ts"];

test("every command that asks knows -y", async () => {
  const without: string[] = [];
  for await (const file of new Bun.Glob("**/*.ts").scan(commands)) {
    const text = await Bun.file(join(commands, file)).text();
    const asks = /\b(?:assent|requireYes)\(/.test(text);
    if (asks && !/yesFlag|name: "yes"|yes: boolean/.test(text)) without.push(file);
  }
  expect(without).toEqual(others);
});
