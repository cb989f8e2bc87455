import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRestic } from "../../../src/backups/restic/restic.ts";
import { createRepository } from "../../../src/backups/service/repository.ts";
import { firstPassTag, rootTag, stateTag, subjectTags, volumeTag } from "../../../src/backups/core/subject.ts";
import { patientBackups } from "../../support/patient-backups.ts";
import { waitFor } from "../../support/wait.ts";

setDefaultTimeout(240_000);

const isThere = process.getuid?.() === 0 && ["restic", "rclone"].every((program) => Bun.which(program) !== null);

test.skipIf(!isThere)(
  "with the credentials of the server nobody removes a copy from an append-only target",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "berth-append."));
    const [store, data] = [join(folder, "store"), join(folder, "data")];
    for (const path of [store, data]) mkdirSync(path);
    writeFileSync(join(data, "file"), "yesterday");
    const words = [
      "serve",
      "restic",
      "--append-only",
      "--addr",
      "127.0.0.1:0",
      "--user",
      "ann",
      "--pass",
      "word",
      store,
    ];
    const server = Bun.spawn(["rclone", ...words], { stdout: "ignore", stderr: "pipe" });
    try {
      const reader = server.stderr.getReader();
      let said = "";
      const port = await waitFor("its port", async () => {
        said += new TextDecoder().decode((await reader.read()).value);
        return /http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1];
      });
      const credentials = { user: "ann", password: "word" };
      const access = { installation: "0123456789abcdef", password: "a word", credentials };
      const restic = createRestic(join(folder, "cache"), patientBackups, () => "berth-aa");
      const repository = createRepository(restic, { ...access, url: `rest:http://127.0.0.1:${port}/` }, patientBackups);
      const { signal } = new AbortController();
      await repository.make();
      const { snapshot } = await repository.backup({ folder: data, tags: ["berth-state"] }, signal);
      await repository.mark({ number: 1, life: "aa" });
      // The locks of its own commands it may remove.
      expect(readdirSync(join(store, access.installation, "locks"))).toEqual([]);
      const authorization = `Basic ${btoa("ann:word")}`;
      for (const kind of ["snapshots", "data", "index", "keys"]) {
        const files = readdirSync(join(store, access.installation, kind), { recursive: true, withFileTypes: true });
        const [name] = files.filter((file) => file.isFile()).map((file) => file.name);
        const url = `http://127.0.0.1:${port}/${access.installation}/${kind}/${name}`;
        const answer = await fetch(url, { method: "DELETE", headers: { authorization } });
        expect([kind, answer.status]).toEqual([kind, 403]);
      }
      await repository.restore(snapshot, join(folder, "back"), signal);
    } finally {
      server.kill();
      await server.exited;
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

const canExpire = ["restic", "jq"].every((program) => Bun.which(program) !== null);

test.skipIf(!canExpire)("the lines of the docs remove old copies from elsewhere, and nothing else", () => {
  const docs = readFileSync(join(import.meta.dir, "../../../docs/backups.md"), "utf8");
  const [, lines = ""] = /```\n(export RESTIC_REPOSITORY=.*?)```/s.exec(docs) ?? [];
  const folder = mkdtempSync(join(tmpdir(), "berth-expire."));
  const [store, file] = [join(folder, "store"), join(folder, "file")];
  writeFileSync(join(folder, "key.txt"), "a word\n");
  const env = {
    ...{ PATH: process.env.PATH, HOME: folder, RESTIC_CACHE_DIR: join(folder, "cache"), TZ: "UTC" },
    ...{ RESTIC_REPOSITORY: store, RESTIC_PASSWORD: "a word" },
  };
  const run = (words: string[], more: Record<string, string> = {}) => {
    const done = Bun.spawnSync(words, { cwd: folder, env: { ...env, ...more } });
    expect([words.join(" ").slice(0, 80), done.exitCode, done.stderr.toString()]).toEqual([
      ...[words.join(" ").slice(0, 80), 0, expect.anything()],
    ]);
    return done.stdout.toString();
  };
  try {
    run([process.execPath, join(import.meta.dir, "../../lib/cheap-repository.ts")]);
    /** A copy of so many days ago, at noon and so many minutes. */
    const copy = (days: number, minutes: number, tags: readonly string[]) => {
      const day = new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
      const name = `${days}d ${minutes} ${tags.find((tag) => tag.startsWith("root=")) ?? tags[0]}`;
      writeFileSync(file, name);
      const time = `${day} 12:${String(minutes).padStart(2, "0")}:00`;
      run(["restic", "backup", "--quiet", "--time", time, ...tags.flatMap((tag) => ["--tag", tag]), file]);
      return `${time.replace(" ", "T")} ${name.split(" ").at(-1)}`;
    };
    const volume = [
      volumeTag,
      ...subjectTags({ scope: "shop", kind: "statefulset", name: "db", claim: "data", ordinal: 0 }),
    ];
    const [before, after] = ["700.0.0", "750.70.70"].map((root) => [...volume, rootTag(root)]) as [string[], string[]];
    const kept = [
      ...[copy(1, 1, [stateTag]), copy(3, 1, [stateTag]), copy(3, 2, [stateTag])],
      ...[copy(20, 2, before), copy(3, 1, after), copy(1, 1, after)],
    ];
    for (const tags of [[stateTag], before, after]) copy(500, 1, tags);
    copy(20, 1, before);
    copy(1, 2, [
      firstPassTag,
      ...subjectTags({ scope: "shop", kind: "statefulset", name: "db", claim: "data", ordinal: 0 }),
    ]);
    const here = lines.replace(/^export RESTIC_REPOSITORY=\S+/, `export RESTIC_REPOSITORY=${store}`);
    run(["sh", "-euc", `unset RESTIC_PASSWORD\n${here}`]);
    const left = JSON.parse(run(["restic", "snapshots", "--json"])) as { time: string; tags: string[] }[];
    const names = left.map(({ time, tags }) => {
      return `${time.slice(0, 19)} ${tags.find((tag) => tag.startsWith("root=")) ?? tags[0]}`;
    });
    expect(names.sort()).toEqual(kept.sort());
    run(["restic", "check", "--quiet"]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
