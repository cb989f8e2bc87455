import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRestic } from "../../../src/backups/restic/restic.ts";
import { createRepository } from "../../../src/backups/service/repository.ts";
import { patientBackups } from "../../support/patient-backups.ts";
import { type S3Store, s3Store } from "../../support/s3-store.ts";

/** A million in a soak. */
const files = Number(process.env.BERTH_TEST_FILES ?? 50);
const [filesPerFolder, memoryMaxMib] = [1_000, 400];

setDefaultTimeout(240_000 + files * 2);

const isThere = process.getuid?.() === 0 && ["restic", "openssl"].every((program) => Bun.which(program) !== null);
const { signal } = new AbortController();

test.skipIf(!isThere)(
  "copies at storage that speaks S3 over TLS are whole where it refuses, is slow and cuts answers off, and count only while it has them",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "berth-s3-copies."));
    const [data, back] = [join(folder, "data"), join(folder, "back")];
    for (let n = 0; n < files; n++) {
      const many = join(data, `many-${Math.floor(n / filesPerFolder)}`);
      if (n % filesPerFolder === 0) mkdirSync(many, { recursive: true });
      writeFileSync(join(many, `${n}`), `${n}`);
    }
    writeFileSync(join(data, "large"), crypto.getRandomValues(new Uint8Array(65_536)));
    const store = await s3Store();
    try {
      const { repository, forget } = at(folder, store);
      store.mishap = () => "silence";
      await expect(repository({ askMs: 1_500 }).snapshots()).rejects.toThrow("it took longer than 2 s");
      store.mishap = () => undefined;
      await repository().make();

      // The first try of each request for what is copied fails, in one of two ways.
      const tries = new Map<string, number>();
      store.mishap = (method, key) => {
        const count = (tries.get(`${method} ${key}`) ?? 0) + 1;
        tries.set(`${method} ${key}`, count);
        if (count > 1 || !/\/(?:data|snapshots)\/./.test(key)) return "slow";
        return method === "GET" && key.includes("/data/") ? "cut" : "unavailable";
      };
      const peakOfCopy = watchMemory(store.url);
      const copy = await repository().backup({ folder: data, tags: ["volume"] }, signal);
      const copyMib = peakOfCopy();
      forget();
      tries.clear();
      const peakOfRestore = watchMemory(store.url);
      await repository().restore(copy.snapshot, back, signal);
      const restoreMib = peakOfRestore();
      if (process.env.BERTH_TEST_FILES !== undefined)
        console.log(`${files} files: the copy took ${copyMib} MiB, the restore ${restoreMib} MiB`);
      expect(copyMib).toBeWithin(1, memoryMaxMib + 1);
      const same = Bun.spawnSync(["diff", "-r", data, back]);
      expect([same.exitCode, same.stdout.toString()]).toEqual([0, ""]);
      const packs = [...tries].filter(([request]) => /^GET .*\/data\//.test(request));
      expect(packs.length).toBeGreaterThan(0);
      for (const [, count] of packs) expect(count).toBeGreaterThan(1);

      store.mishap = () => undefined;
      for (const key of store.objects.keys()) if (key.includes("/snapshots/")) store.objects.delete(key);
      await expect(repository().confirmed(copy, signal)).rejects.toThrow("does not list the snapshot");
    } finally {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

/** Repositories of one server at the store, whose certificate its restic trusts; `forget` takes what it keeps of them. */
function at(folder: string, store: S3Store) {
  const cache = join(folder, "cache");
  const credentials = { access_key_id: "ann", secret_access_key: "word" };
  const access = { url: store.url, installation: "0123456789abcdef", password: "a word", credentials };
  return {
    forget: () => rmSync(cache, { recursive: true, force: true }),
    repository(limits: Partial<typeof patientBackups> = {}) {
      const restic = createRestic(cache, patientBackups);
      const run: typeof restic.run = ({ env, ...order }) =>
        restic.run({ ...order, env: { ...env, SSL_CERT_FILE: store.certificate } });
      return createRepository({ ...restic, run }, access, { ...patientBackups, ...limits });
    },
  };
}

/** Begins to look at the memory of each restic that has this target; the answer is the most that one of them had, in MiB. */
function watchMemory(url: string): () => number {
  let peak = 0;
  const place = url.replace(/^s3:\/\//, "");
  const look = () => {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      const [environment, status] = ["environ", "status"].map((name) => textOf(`/proc/${pid}/${name}`));
      if (!environment?.includes(place) || !/^Name:\s+restic$/m.test(status ?? "")) continue;
      const kib = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status ?? "")?.[1] ?? 0);
      peak = Math.max(peak, Math.round(kib / 1_024));
    }
  };
  const timer = setInterval(look, 100);
  return () => {
    clearInterval(timer);
    return peak;
  };
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
