import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Layout } from "../../../../src/base/disk/layout.ts";
import { answerMover } from "../../../../src/local/move/arrive.ts";
import { type MoveRecord, readMove, writeMove } from "../../../../src/local/parked.ts";
import { diskRoot } from "../../../support/disk-root.ts";

let root: Awaited<ReturnType<typeof diskRoot>>;
let layout: Layout;
beforeEach(async () => {
  root = await diskRoot();
  ({ layout } = root);
});
afterEach(() => root.remove());

const record = (more: Partial<MoveRecord>): MoveRecord => ({
  ...{ phase: "arriving", peer: "old", at: 0, installation: "one", prefix: "berth", dockerHost: "unix:///none" },
  ...more,
});
const ask = (word: string, input: unknown) => answerMover(word, async () => JSON.stringify(input), layout.root);
const from = (installation: string) => ({ peer: "other", installation });

/** A server that acts. */
const acting = (installation: string, manifests: number) => {
  const uses = { root: layout.root, prefix: "berth", engine: { host: "unix:///none" }, settings: [] };
  return Bun.serve({
    unix: layout.socket,
    fetch: () => Response.json({ status: "ok", data: { ...uses, installation, store: { manifests } } }),
  });
};

test.each<[string, string, MoveRecord, object]>([
  ["arrive", "another one moves there", record({}), from("two")],
  ["arrive", "another one moves there", record({ phase: "leaving" }), from("one")],
  ["arrive", "another one moves there", record({ phase: "moved" }), from("two")],
  ["back", "is another one, and was not stopped", record({}), from("two")],
  ["back", "this server moved to old at ", record({ phase: "moved" }), from("one")],
  ["back", "this server moves to old just now", record({ phase: "leaving" }), from("one")],
  ["volumes", "nothing is on its way", record({ phase: "moved" }), []],
  ["load", "nothing is on its way", record({ phase: "moved" }), {}],
  ["act", "nothing is on its way", record({ phase: "moved" }), { generation: 2 }],
])("%s is refused where %s, and the record stays", async (word, text, was, input) => {
  await writeMove(layout, was);
  await expect(ask(word, input)).rejects.toThrow(text);
  expect(readMove(layout)).toEqual(was);
});

test.each([
  ["with apps that came after the plan", "two", 1],
  ["that has taken over already", "one", 0],
])("nothing arrives over a server %s", async (_, installation, manifests) => {
  await using _server = acting(installation, manifests);
  await expect(ask("arrive", from("one"))).rejects.toThrow("a server with apps of its own is there");
  expect(readMove(layout)).toBeUndefined();
});

test.each(["none", "__proto__", "constructor", ""])("the word %j is refused before anything is read", async (word) => {
  await expect(answerMover(word, () => Promise.reject(new Error("read")), layout.root)).rejects.toThrow("unknown word");
});

test.each(["null", "5", "{", '"text"'])("input that is not an object is refused: %s", async (text) => {
  await expect(answerMover("arrive", async () => text, layout.root)).rejects.toThrow("the input is not JSON");
});
