import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { remoteEnvironment } from "../../../src/backups/core/rclone-remote.ts";
import { createRclone } from "../../../src/backups/restic/rclone.ts";
import { createRestic } from "../../../src/backups/restic/restic.ts";
import { createRepository } from "../../../src/backups/service/repository.ts";
import { pointInTimeLimits } from "../../../src/config/backup-limits.ts";
import { recordsOf } from "../../../src/daemon/backups.ts";
import { isRoot } from "../../support/is-root.ts";
import { patientBackups } from "../../support/patient-backups.ts";
import { openTestStore, testRoot } from "../../support/store-root.ts";

setDefaultTimeout(120_000);

const [password, secret] = ["canary-of-a-recovery-key", "canary-of-a-secret"];
const access = { installation: "0123456789abcdef", password };

test("the recovery key and the credentials of targets are sealed in the store", async () => {
  const at = testRoot();
  try {
    const store = openTestStore(at);
    const records = recordsOf(store);
    const target = { name: "vault", url: "s3://s3.example.com/b", credentials: { secret_access_key: secret } };
    await records.setKey(password);
    await records.putTarget({ ...target, everyMs: 1, keep: "7d", createdAt: 1, prunedAt: undefined });
    expect([records.key(), records.targets()[0]?.credentials.secret_access_key]).toEqual([password, secret]);
    store.close();
    const files = readdirSync(at.root).filter((name) => name.startsWith("state.db"));
    expect(files).toContain("state.db");
    for (const file of files) expect(readFileSync(join(at.root, file)).includes("canary")).toBe(false);
  } finally {
    at.remove();
  }
});

/** Command lines of all processes, as every user of the machine can read them. */
function commandLines(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")];
      } catch {
        return [];
      }
    });
}

describe("while a program talks to a target, no credential is in a command line or in what it says", () => {
  let folder: string;
  let server: Bun.Server<undefined>;
  let seen: string[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "berth-credentials."));
    seen = [];
    server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch() {
        seen.push(...commandLines());
        return new Response(`canary? ${secret}`, { status: 403 });
      },
    });
  });
  afterEach(async () => {
    await server.stop(true);
    rmSync(folder, { recursive: true, force: true });
  });

  const lacks = (program: string) => !isRoot || Bun.which(program) === null;
  const check = (program: string, said: string) => {
    expect(seen.some((line) => line.includes(`${program} `))).toBe(true);
    for (const line of seen) expect(line).not.toContain("canary-of");
    expect(said).not.toContain("canary-of");
  };
  const failed = async (work: Promise<unknown>) =>
    work.then(
      () => "",
      (error: unknown) => `${String(error)} ${String((error as Error).stack)}`,
    );

  test.skipIf(lacks("restic")).each([
    ["s3+http://127.0.0.1:PORT/bucket", { access_key_id: "id", secret_access_key: secret }],
    ["rest:http://127.0.0.1:PORT/vault", { user: "ana", password: secret }],
  ])("restic at %s", async (place, credentials) => {
    const restic = createRestic(join(folder, "cache"), { ...patientBackups, resticStallMs: 1_000 });
    const url = place.replace("PORT", String(server.port));
    const repository = createRepository(restic, { ...access, credentials, url }, patientBackups);
    check("restic", await failed(repository.snapshots()));
  });

  test.skipIf(lacks("rclone"))("rclone", async () => {
    const rclone = createRclone(pointInTimeLimits, async () => []);
    const credentials = { access_key_id: "id", secret_access_key: secret };
    const url = `s3+http://127.0.0.1:${server.port}/bucket`;
    const obscured = (await rclone.run({ words: ["obscure", "-"], env: {}, from: password, timeoutMs: 60_000 })).trim();
    const env = remoteEnvironment(url, { ...access, credentials, password: obscured });
    const said = await failed(rclone.run({ words: ["lsf", "databases:"], env, timeoutMs: 60_000 }));
    check("rclone", said);
    for (const line of seen) expect(line).not.toContain(obscured);
  });
});
