import { open, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { contextDigest } from "../pure/source-tree.ts";
import { Failure } from "../wire/failure.ts";
import { collectContentTimes, contentTimes } from "./content-times.ts";
import { codeOf, diskFailure } from "../wire/disk-failure.ts";
import { readChunks, writeAll } from "./file-chunks.ts";
import { type ArchiveLimits, readSourceArchive } from "./source-archive.ts";
import { timedArchive } from "./timed-archive.ts";

/** Packed folders that images are built from, by the digest of what is in them. */
export interface Contexts {
  /** Fails `invalid` for anything but a digest. */
  state(digest: string): Promise<ContextState>;
  /**
   * Adds bytes at `offset`, which is where the received ones end. With `last` the archive is checked and kept. Fails
   * `conflict`/`ContextOffset` with the field `received`, `too_large`, `storage_full`, and `invalid` for an archive that
   * is not what its digest says, which is then thrown away.
   */
  append(digest: string, bytes: Uint8Array, at: { offset: number; last: boolean }): Promise<ContextState>;
  /**
   * A complete one as a tar archive. Its files have the times of `app`: see `content-times.ts`; `now` is in ms. Fails
   * `conflict`/`ContextMissing`.
   */
  read(digest: string, at: { app: string; now: number }): AsyncIterable<Uint8Array>;
  /** Removes the least recently used until the rest fits, and uploads that were abandoned. */
  collect(now: number): Promise<void>;
}

interface ContextState {
  complete: boolean;
  /** Bytes that are here. */
  received: number;
}

export interface ContextLimits extends ArchiveLimits {
  /** Size of one archive, packed. */
  packedBytesMax: number;
  /** Size of all complete archives together. */
  keptBytesMax: number;
  /** An unfinished upload is thrown away after this long without a byte. */
  unfinishedMs: number;
  /** Apps whose files keep their times. */
  timedAppsMax: number;
}

const digestPattern = /^[0-9a-f]{64}$/;

export function createContexts(folder: string, limits: ContextLimits): Contexts {
  const pathOf = (digest: string, part: "tar.gz" | "part") => {
    if (!digestPattern.test(digest)) throw new Failure("invalid", `"${digest.slice(0, 80)}" is not a sha256 digest`);
    return join(folder, `${digest}.${part}`);
  };
  const state = async (digest: string): Promise<ContextState> => {
    const whole = await sizeOf(pathOf(digest, "tar.gz"));
    if (whole !== undefined) return { complete: true, received: whole };
    return { complete: false, received: (await sizeOf(pathOf(digest, "part"))) ?? 0 };
  };
  const packedAt = async (path: string) => ({ bytes: bytesOf(path), size: (await sizeOf(path)) ?? 0 });
  const finish = async (digest: string) => {
    const path = pathOf(digest, "part");
    try {
      const found = contextDigest(await readSourceArchive(await packedAt(path), limits));
      if (found !== digest) {
        throw new Failure(
          "invalid",
          "the archive is not the folder that its digest names: it changed while it was packed",
        );
      }
      await rename(path, pathOf(digest, "tar.gz"));
    } catch (error) {
      await rm(path, { force: true });
      throw error instanceof Failure ? error : diskFailure(error, path);
    }
  };
  /** Two clients may send the same folder: one part after the other. */
  const turns = new Map<string, Promise<unknown>>();
  const inTurn = <T>(digest: string, work: () => Promise<T>): Promise<T> => {
    const turn = (turns.get(digest) ?? Promise.resolve()).catch(() => undefined).then(work);
    turns.set(digest, turn);
    const forget = () => {
      if (turns.get(digest) === turn) turns.delete(digest);
    };
    turn.then(forget, forget);
    return turn;
  };
  return {
    state,
    append: (digest, bytes, { offset, last }) =>
      inTurn(digest, async () => {
        const { complete, received } = await state(digest);
        if (complete) return { complete, received };
        if (offset !== received) {
          const message = `the upload goes on at byte ${received}, not at ${offset}`;
          throw new Failure("conflict", message, { reason: "ContextOffset", fields: { received } });
        }
        const total = received + bytes.length;
        if (total > limits.packedBytesMax) {
          throw new Failure("too_large", `the packed folder is larger than ${limits.packedBytesMax} bytes`);
        }
        await appendBytes(pathOf(digest, "part"), bytes);
        if (last) await finish(digest);
        return { complete: last, received: total };
      }),
    async *read(digest, { app, now: at }) {
      const path = pathOf(digest, "tar.gz");
      if ((await sizeOf(path)) === undefined) throw missing(digest);
      const now = new Date();
      await utimes(path, now, now);
      const entries = await readSourceArchive(await packedAt(path), limits);
      const times = await inTurn(app, () => contentTimes(folder, app, { entries, now: at }));
      yield* timedArchive(bytesOf(path), times);
    },
    async collect(now) {
      const files = await filesIn(folder);
      const old = files.filter(({ name, usedAt }) => name.endsWith(".part") && now - usedAt > limits.unfinishedMs);
      let room = limits.keptBytesMax;
      const whole = files.filter(({ name }) => name.endsWith(".tar.gz")).sort((a, b) => b.usedAt - a.usedAt);
      for (const file of whole) {
        room -= file.bytes;
        if (room < 0) old.push(file);
      }
      for (const { name } of old) await rm(join(folder, name), { force: true });
      await collectContentTimes(folder, limits.timedAppsMax);
    },
  };
}

function missing(digest: string): Failure {
  const message = `the folder ${digest.slice(0, 12)} is not on the server: upload it first`;
  return new Failure("conflict", message, { reason: "ContextMissing" });
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw diskFailure(error, path);
  }
}

async function appendBytes(path: string, bytes: Uint8Array): Promise<void> {
  try {
    const file = await open(path, "a", 0o600);
    try {
      await writeAll(file, bytes);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw diskFailure(error, path);
  }
}

async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path, "r");
  try {
    yield* readChunks(file, 0, Number.MAX_SAFE_INTEGER);
  } finally {
    await file.close();
  }
}

async function filesIn(folder: string): Promise<{ name: string; bytes: number; usedAt: number }[]> {
  const names = await readdir(folder);
  const files = await Promise.all(
    names.map(async (name) => {
      try {
        const { size, mtimeMs } = await stat(join(folder, name));
        return [{ name, bytes: size, usedAt: mtimeMs }];
      } catch {
        return [];
      }
    }),
  );
  return files.flat();
}
