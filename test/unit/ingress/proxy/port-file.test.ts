import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../../src/base/words/clock.ts";
import { keepIn, keptIn } from "../../../../src/ingress/proxy/port-file.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { waitFor } from "../../../support/wait.ts";

let folder: string;
const ends = { port: 4_321, word: "0b3f6f0e-8d2e-4a2e-9a60-6a2a5a5f7d11" };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "port-file."));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function options(file: string, signal = new AbortController().signal) {
  const warned: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warned.push(message) };
  return { warned, given: { file, clock: systemClock, log, retryMs: 5, signal } };
}

test("a file that cannot be written stops no start: one warning, and it is written as soon as that works", async () => {
  const file = join(folder, "port");
  // A folder in its place refuses the file, also to root.
  mkdirSync(join(file, "in-the-way"), { recursive: true });
  const { warned, given } = options(file);
  await keepIn(ends, given);
  expect(warned).toHaveLength(1);
  rmSync(file, { recursive: true });
  await waitFor("the file", async () => (await keptIn(file)).port === ends.port);
  expect([await keptIn(file), warned.length]).toEqual([ends, 1]);
});

test("a file that holds it already is left alone: a full disk has no room for a second one", async () => {
  const file = join(folder, "port");
  const { given } = options(file);
  await keepIn(ends, given);
  const before = statSync(file).ino;
  await keepIn(ends, given);
  expect(statSync(file).ino).toBe(before);
  await keepIn({ ...ends, port: 4_322 }, given);
  expect(readFileSync(file, "utf8")).toStartWith("4322 ");
});

test("a closed listener no longer writes its port", async () => {
  const file = join(folder, "port");
  mkdirSync(join(file, "in-the-way"), { recursive: true });
  const closing = new AbortController();
  await keepIn(ends, options(file, closing.signal).given);
  closing.abort();
  rmSync(file, { recursive: true });
  await Bun.sleep(50);
  expect((await keptIn(file)).port).toBe(0);
});
