import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRestic } from "../../../src/backups/restic/restic.ts";
import { createRepository } from "../../../src/backups/service/repository.ts";
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
