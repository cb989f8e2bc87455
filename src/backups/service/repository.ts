import { Failure } from "../../base/wire/failure.ts";
import { createLocks, type Locks } from "./locks.ts";
import type { Restic } from "../restic/restic.ts";
import { type Generation, generationTags } from "../core/generation.ts";
import { includePattern, sizeBelow } from "../core/restore-choice.ts";
import { type BackupSummary, readSize, readSnapshots, readSummary, type Snapshot } from "../core/restic-words.ts";
import { type Access, readTarget, repositoryEnvironment } from "../core/target.ts";

/** The copies of one installation at one target. Every call fails `unavailable` with the cause where the target does not do it. */
export interface Repository {
  /**
   * Opens it, and makes it where there is none yet. Fails `conflict` where another key opens what is there: it is another
   * server's, or the key was lost.
   */
  open(): Promise<void>;
  /** Takes no lock. */
  snapshots(signal?: AbortSignal): Promise<Snapshot[]>;
  /** Copies what is in a folder. It counts only once the target has listed it. */
  backup(folder: string, tag: string, signal: AbortSignal): Promise<BackupSummary>;
  /** Removes the snapshots of a tag that `keep` does not name, and the data that no other needs. */
  forget(tag: string, keep: readonly string[], signal: AbortSignal): Promise<void>;
  /** Writes down which server acts: a snapshot that holds nothing else. */
  mark(generation: Generation): Promise<void>;
  /** Bytes of a snapshot, or of one path in it. Fails `not_found` where it does not hold the path. */
  size(snapshot: string, path: string | undefined): Promise<number>;
  /** Writes a snapshot, or one path of it, into a folder, and compares what it has written with the copy. */
  restore(snapshot: string, folder: string, signal: AbortSignal, path?: string): Promise<void>;
}

/** See `backupLimits`. */
export interface RepositoryLimits {
  /** For what reads or writes little. */
  askMs: number;
  /** For a copy, a restore, and a removal of old copies. */
  workMs: number;
  /** After this time, a lock that did not change is left over. */
  lockStaleMs: number;
}

interface How {
  folder?: string | undefined;
  input?: string | undefined;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

export function createRepository(
  restic: Restic,
  { url, ...access }: Access & { url: string },
  limits: RepositoryLimits,
  locks: Pick<Locks, "areLeftOver"> = createLocks(() => performance.now(), limits),
): Repository {
  const env = repositoryEnvironment(readTarget(url), access);
  const place = `target ${url}`;
  const { workMs } = limits;

  /** Runs one command; once more where only locks that are left over stood in its way. */
  async function order(words: string[], { folder, input, signal, timeoutMs = limits.askMs }: How = {}) {
    const run = () => restic.run({ words, env, timeoutMs, folder, input, signal });
    const first = await run();
    if (first.ok || first.trouble !== "locked" || signal?.aborted) return first;
    if (!(await locks.areLeftOver(restic, env))) return first;
    await restic.run({ words: ["unlock"], env, timeoutMs: limits.askMs });
    return run();
  }

  async function asked(what: string, words: string[], how?: How) {
    const done = await order(words, how);
    if (!done.ok) throw refused(`${what} at ${place}`, done);
    return done.stdout;
  }

  const list = async (words: string[], signal?: AbortSignal) =>
    readSnapshots(await asked("listing the copies", ["snapshots", "--json", "--no-lock", ...words], { signal }));

  return {
    async open() {
      const found = await order(["cat", "config", "--no-lock"]);
      if (found.ok) return;
      if (found.trouble !== "no_repository") throw refused(`opening ${place}`, found);
      await asked("making the repository", ["init"]);
    },
    snapshots: (signal) => list([], signal),
    async backup(folder, tag, signal) {
      const words = ["backup", "--json", "--host", access.installation, "--tag", tag, "."];
      const said = await asked("copying", words, { folder, signal, timeoutMs: workMs });
      const summary = readSummary(said);
      if (summary === undefined) throw new Failure("unavailable", `copying to ${place} ended without a snapshot`);
      const [listed] = await list([summary.snapshot]);
      if (listed === undefined) {
        throw new Failure("unavailable", `${place} does not list the snapshot ${summary.snapshot} that it has taken`);
      }
      return { ...summary, snapshot: listed.id };
    },
    async forget(tag, keep, signal) {
      await asked("removing old copies", ["forget", "--tag", tag, "--group-by", "tags", ...keep, "--prune"], {
        ...{ signal, timeoutMs: workMs },
      });
    },
    async mark(generation) {
      const tags = generationTags(generation).flatMap((tag) => ["--tag", tag]);
      const words = ["backup", "--json", "--host", access.installation, ...tags];
      await asked("writing the generation", [...words, "--stdin", "--stdin-filename", "generation.json"], {
        input: JSON.stringify(generation),
      });
    },
    async size(snapshot, path) {
      const how = { timeoutMs: workMs };
      if (path === undefined) {
        return readSize(await asked("reading the copy", ["stats", "--json", "--mode", "restore-size", snapshot], how));
      }
      const listed = await asked("reading the copy", ["ls", "--json", snapshot, `/${path}`, "--recursive"], how);
      const size = sizeBelow(listed, path);
      if (size !== undefined) return size;
      throw new Failure("not_found", `the copy ${snapshot.slice(0, 8)} does not hold "${path}"; nothing was changed`);
    },
    async restore(snapshot, folder, signal, path) {
      const only = path === undefined ? [] : ["--include", includePattern(path)];
      const words = ["restore", snapshot, "--verify", "--target", folder, ...only];
      const done = await order(words, { signal, timeoutMs: workMs });
      if (done.ok) return;
      const failure = refused(`restoring from ${place}`, done);
      const wayOut = "take another copy (berth backup list), or the same from another target";
      throw signal.aborted ? failure : new Failure(failure.code, `${failure.message}; ${wayOut}`);
    },
  };
}

function refused(what: string, { trouble, cause }: { trouble: string; cause: string }): Failure {
  if (trouble === "wrong_key") {
    const why = "another key opens what is there; choose another folder, or restore with the key of those copies";
    return new Failure("conflict", `${what} failed: ${why}`);
  }
  if (trouble === "no_repository") return new Failure("not_found", `${what} failed: it holds no copies of this server`);
  return new Failure("unavailable", `${what} failed: ${cause}`);
}
