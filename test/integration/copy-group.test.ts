import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "bun:test";
import { createCopyGroup } from "../../src/backups/restic/copy-group.ts";
import { createRestic } from "../../src/backups/restic/restic.ts";
import { silentLog } from "../support/silent-log.ts";
import { patientBackups } from "../support/patient-backups.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-group."));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const group = createCopyGroup(patientBackups, silentLog);

/** restic asks a command for its key: that says where both stand, how easily they die, and how they give way. */
async function restic(pace: "long" | "quick" | undefined): Promise<string> {
  const file = join(folder, `${pace}`);
  const standing = "cat /proc/self/cgroup; echo GOMEMLIMIT $GOMEMLIMIT; cat /proc/self/oom_score_adj; nice";
  const key = `sh -c '{ ${standing}; } > ${file}; echo secret'`;
  const env = { RESTIC_REPOSITORY: join(folder, "none"), RESTIC_PASSWORD_COMMAND: key };
  const program = createRestic(join(folder, "cache"), patientBackups, undefined, group);
  const words = ["cat", "config", "--no-lock"];
  expect((await program.run({ words, env, timeoutMs: 100_000, pace })).trouble).toBe("no_repository");
  return readFileSync(file, "utf8");
}

const [own = ""] = Bun.spawnSync(["nice"]).stdout.toString().split("\n");
const nicer = String(Math.min(19, Number(own) + 10));

test("a long command of restic stands in the group of copies; one that an app waits for does not", async () => {
  const copies = /^\d+:.*\/(?:berth-copies|system\.slice\/run-.*\.scope)$/m;
  const [long, quick, usual] = [await restic("long"), await restic("quick"), await restic(undefined)];
  // A container whose groups are read-only gives none: then it only gives way as the others do.
  expect(copies.test(long)).toBe((await group()).length > 0);
  expect(long).toEndWith(`\nGOMEMLIMIT 340MiB\n1000\n${nicer}\n`);
  expect(quick).not.toMatch(copies);
  expect(quick).toEndWith(`\n1000\n${own}\n`);
  expect(usual).not.toMatch(copies);
  expect(usual).toEndWith(`\n1000\n${nicer}\n`);
});
