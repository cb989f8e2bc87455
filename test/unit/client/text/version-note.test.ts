import { expect, test } from "bun:test";
import { versionNote } from "../../../../src/client/text/version-note.ts";

test.each([
  ["0.1.0 (commit: a)", "0.1.0 (commit: b-dirty)"],
  ["0.1.0 (commit: a)", ""],
  ["0.1.0 (commit: a)", "test"],
  ["unknown", "0.1.0 (commit: a)"],
])("client %s and server %s: nothing to say", (client, server) => {
  expect(versionNote(client, server)).toBeUndefined();
});

test.each([
  ["0.1.0 (commit: a)", "0.2.0 (commit: b)", "berth self-update updates this one"],
  ["0.2.1 (commit: a)", "0.2.0 (commit: b)", "berth server upgrade, on the server, updates that one"],
  ["0.1.0 (commit: a)", "0.3.0 (commit: b)", "berth self-update updates this one; they are more than one minor"],
  ["1.0.0 (commit: a)", "0.1.0 (commit: b)", "updates that one; they are more than one minor version apart"],
])("client %s and server %s: %s", (client, server, words) => {
  const note = versionNote(client, server);
  expect(note).toStartWith(`this berth is ${client.split(" ")[0]} and the server is ${server.split(" ")[0]}: `);
  expect(note).toContain(words);
  expect(note?.includes("may fail")).toBe(words.includes("apart") || words.includes("more than"));
});
