import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { whileSmall } from "../../../../src/orchestration/plugins/stage.ts";
import { failureText } from "../../../support/failure.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-growth-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const limit = { bytesMax: 1_000, everyMs: 5 };

/** Goes on until it is aborted. */
const forever = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));

test("work that stays small comes to its end", async () => {
  writeFileSync(join(folder, "a"), "x".repeat(1_000));
  expect(await whileSmall(folder, limit, async () => 7)).toBe(7);
});

test("work that grows is aborted, wherever below it grows", async () => {
  mkdirSync(join(folder, "a/b"), { recursive: true });
  writeFileSync(join(folder, "x"), "x".repeat(600));
  const growing = whileSmall(folder, limit, (signal) => {
    writeFileSync(join(folder, "a/b/y"), "x".repeat(600));
    return forever(signal);
  });
  expect(await failureText(growing)).toBe("too_large: what is fetched grows beyond 1000 bytes");
});

test("a caller that leaves, and work that fails, are no growth", async () => {
  const leaving = new AbortController();
  const left = whileSmall(folder, { ...limit, signal: leaving.signal }, forever);
  leaving.abort();
  await expect(left).rejects.toThrow("aborted");
  const failing = whileSmall(folder, limit, () => Promise.reject(new Error("no route")));
  await expect(failing).rejects.toThrow("no route");
});
