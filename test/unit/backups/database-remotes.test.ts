import { expect, test } from "bun:test";
import { makeRecoveryKey } from "../../../src/backups/core/recovery-key.ts";
import { createDatabaseRemotes } from "../../../src/backups/service/database-remotes.ts";
import type { Rclone } from "../../../src/backups/restic/rclone.ts";

const key = makeRecoveryKey("0123456789abcdef", new Uint8Array(200).fill(7)).text;
const target = {
  ...{ name: "disk", url: "/srv/copies", credentials: {}, everyMs: 1, keep: "7d", createdAt: 0, prunedAt: undefined },
};

test("each database has a password of its own, which is the same each time and at every target", async () => {
  const words: (string | undefined)[] = [];
  const rclone: Rclone = {
    run: async ({ from }) => {
      words.push(typeof from === "string" ? from : undefined);
      return `${words.length}\n`;
    },
  } as Rclone;
  const { remoteOf } = createDatabaseRemotes({
    ...{ records: { key: () => key, targets: () => [target] }, rclone, limits: { askMs: 1, workMs: 1 } },
    signal: new AbortController().signal,
  });
  await remoteOf({ scope: "data", name: "main" }, target);
  await remoteOf({ scope: "data", name: "main" }, { ...target, url: "/mnt/other" });
  await remoteOf({ scope: "data", name: "other" }, target);
  expect(words.length).toBe(2);
  expect(new Set(words).size).toBe(2);
  for (const word of words) expect(word).toMatch(/^[0-9a-f]{64}$/);
});
