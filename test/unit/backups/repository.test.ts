import { expect, test } from "bun:test";
import { backupLimits } from "../../../src/config/backup-limits.ts";
import { politely } from "../../../src/backups/restic/restic.ts";
import { createRepository } from "../../../src/backups/service/repository.ts";

const summary = '{"message_type":"summary","snapshot_id":"aa","total_bytes_processed":9,"data_added":3}';

/** What a copy that may lack files of a kind says, and whether its snapshot stays. */
async function copied(mayLack: "vanished" | "any" | undefined, lacks: "vanished" | "unread") {
  const asked: string[] = [];
  const restic = {
    version: async () => "0.14.0",
    async run({ words: [verb = ""] }: { words: readonly string[] }) {
      asked.push(verb);
      const done = { ok: verb !== "backup", code: verb === "backup" ? 3 : 0, stdout: summary, cause: "no file" };
      return { ...done, lacks, trouble: "other" } as const;
    },
  };
  const access = { installation: "0123456789abcdef", password: "x", credentials: {} };
  const repository = createRepository(restic, { url: "/copies", ...access }, backupLimits);
  const { signal } = new AbortController();
  const outcome = await repository.write({ folder: "/", tags: ["x"], mayLack }, signal).then(
    ({ snapshot }) => snapshot,
    (error: Error) => error.message,
  );
  return [outcome, asked.includes("forget")];
}

test("a copy that lacks files is one only where they may be lacking; otherwise its snapshot goes", async () => {
  const refused = ["copying at target /copies failed: no file", true];
  const taken = ["aa", false];
  expect(await copied(undefined, "vanished")).toEqual(refused);
  expect(await copied(undefined, "unread")).toEqual(refused);
  expect(await copied("vanished", "vanished")).toEqual(taken);
  expect(await copied("vanished", "unread")).toEqual(refused);
  expect(await copied("any", "vanished")).toEqual(taken);
  expect(await copied("any", "unread")).toEqual(taken);
});

test("a command gives way to apps: on the processors, on the disk, and when memory ends", () => {
  const said = (words: readonly string[]) =>
    Bun.spawnSync([...words, "sh", "-c", "nice; cat /proc/self/oom_score_adj; ionice"])
      .stdout.toString()
      .trim()
      .split("\n");
  const [own = ""] = said([]);
  expect(said(politely)).toEqual([String(Math.min(19, Number(own) + 10)), "1000", "best-effort: prio 7"]);
});
