import { expect, test } from "bun:test";
import type { Command } from "../../../../src/ingress/core/change.ts";
import { areDone, entriesFirst } from "../../../../src/ingress/proxy/send-commands.ts";

const entry = (server: string): Command[] => [
  { kind: "add-server", backend: "p1", server, words: "127.0.0.1:3000" },
  { kind: "enable-server", backend: "p1", server },
];
const leave: Command = { kind: "disable-server", backend: "p1", server: "s1" };
const entries = entriesFirst([...entry("s2"), ...entry("s3")]);

test("entries go together up to the first other command, and up to the length of a line", () => {
  expect(entriesFirst([...entry("s2"), leave, ...entry("s3")])).toHaveLength(2);
  expect(entriesFirst([leave, ...entry("s2")])).toEqual([]);
  const many = entriesFirst(Array.from({ length: 1_000 }, (_, index) => entry(`s${index}`)).flat());
  expect(many.length).toBeGreaterThan(200);
  expect(many.length).toBeLessThan(600);
});

const cases: [string, string, boolean][] = [
  ["each was added", "New server registered.\n\nNew server registered.\n\n", true],
  [
    "one is there already",
    "New server registered.\n\nAlready exists a server with the same name in backend.\n\n",
    false,
  ],
  ["one was not added", "New server registered.\n\n", false],
  ["a complaint", "New server registered.\nNew server registered.\nNo such server.\n", false],
];

test.each(cases)("they are done where %s: %p", async (_, answer, isDone) => {
  const asked: string[] = [];
  const ask = async (text: string) => {
    asked.push(text);
    return answer;
  };
  expect(await areDone({ ask }, entries)).toBe(isDone);
  expect(asked).toEqual([
    "add server p1/s2 127.0.0.1:3000;set server p1/s2 state ready;add server p1/s3 127.0.0.1:3000;set server p1/s3 state ready\n",
  ]);
});

test("nothing is asked for nothing", async () => {
  expect(await areDone({ ask: () => Promise.reject(new Error("asked")) }, [])).toBe(true);
});
