import { Failure } from "../../base/wire/failure.ts";
import { createLocks, type Locks } from "./locks.ts";
import { createDamage, type DamageRoom } from "./damage.ts";
import { lockingOf, repairIndexWords, restoreProgress, restoreWords, takeWords } from "../core/restic-commands.ts";
import type { Restic } from "../restic/restic.ts";
import type { Watched } from "../restic/watch-bytes.ts";
import { type Generation, generationTags } from "../core/generation.ts";
import { includePattern, namesIn, sizeBelow } from "../core/restore-choice.ts";
import {
  type BackupSummary,
  readRemoved,
  readSize,
  readSnapshots,
  readSummary,
  type Snapshot,
} from "../core/restic-words.ts";
import { type Access, readTarget, repositoryEnvironment, sourceEnvironment } from "../core/target.ts";

/** The copies of one installation at one target. Every call fails `unavailable` with the cause where the target does not do it. */
export interface Repository extends DamageRoom {
  /**
   * Opens it, and makes it where there is none yet: for a target that is added. What copies or lists takes a target that has
   * lost it, such as a disk that is not mounted, for a fault. Fails `conflict` where another key opens what is there: it is
   * another server's, or the key was lost.
   */
  make(): Promise<void>;
  snapshots(signal?: AbortSignal): Promise<Snapshot[]>;
  /** Copies what is in a folder. It counts only once the target has listed it: `confirmed`. */
  write(order: CopyOrder, signal: AbortSignal): Promise<BackupSummary>;
  /** The same with the whole id of the snapshot, once the target lists it; `listed`: what it has listed since. */
  confirmed(written: BackupSummary, signal: AbortSignal, listed?: readonly Snapshot[]): Promise<BackupSummary>;
  /** Both. */
  backup(order: CopyOrder, signal: AbortSignal): Promise<BackupSummary>;
  /** Removes the snapshots with all of the tags that `keep` does not name. Resolves with their ids. */
  forget(tags: readonly string[], keep: readonly string[], signal: AbortSignal): Promise<string[]>;
  /** Removes snapshots by their ids; their data stays until the next prune. */
  drop(snapshots: readonly string[], signal?: AbortSignal): Promise<void>;
  /** Takes a copy over from another repository at the same target, with its time and tags. Fails `unavailable` before restic 0.14. */
  take(from: Pick<Access, "installation" | "password">, snapshot: string, signal: AbortSignal): Promise<void>;
  /** Removes the data that no snapshot needs. */
  prune(signal: AbortSignal): Promise<void>;
  /** Checks the structure, and reads this part of the data: `3/26`. */
  check(part: string, signal: AbortSignal): Promise<void>;
  /** Makes the index name what is there, and nothing else: what is lost is then written again by the next copy of it. */
  repairIndex(signal: AbortSignal): Promise<void>;
  /** Bytes at the target. */
  totalSize(signal: AbortSignal): Promise<number>;
  /** Writes down which server acts: a snapshot that holds nothing else. */
  mark(generation: Generation): Promise<void>;
  /** Bytes of a snapshot, or of one path in it. Fails `not_found` where it does not hold the path. */
  size(snapshot: string, path: string | undefined): Promise<number>;
  /** What lies at the top of a snapshot. */
  names(snapshot: string): Promise<string[]>;
  /** A small file of a snapshot; empty where it holds none. */
  text(snapshot: string, path: string): Promise<string>;
  /**
   * Writes a snapshot, or one path of it, into a folder, and compares what it has written with the copy. `onBytes` gets how many
   * bytes are there, now and then.
   */
  restore(
    snapshot: string,
    folder: string,
    signal: AbortSignal,
    path?: string,
    onBytes?: (bytes: number) => void,
  ): Promise<void>;
}

/** See `backupLimits`. */
export interface RepositoryLimits {
  /** For what reads or writes little. */
  askMs: number;
  /** For a copy, a restore, and a removal of old copies. */
  workMs: number;
  /** After this time, a lock that did not change is left over; `serverLockStaleMs`: one of a server of this installation. */
  lockStaleMs: number;
  serverLockStaleMs: number;
  /** How long a command waits for another of this server that has locked the repository, and how often. */
  lockWaitMs: number;
  lockTriesMax: number;
}

/** What is copied. */
interface CopyOrder {
  folder: string;
  tags: readonly string[];
  /** Paths in the folder that are left out; see `excludeWords`. */
  exclude?: readonly string[] | undefined;
  /** The snapshot whose unchanged files are not read again; undefined: the newest one of the folder. */
  parent?: string | undefined;
  /** The folder is known to hold nothing: restic is not asked to read it first. */
  isEmpty?: boolean | undefined;
  /** An app is paused until it has ended. */
  isAwaited?: boolean | undefined;
  /** What it may lack all the same, of a folder that changes meanwhile: files that vanish under the reader, or any. */
  mayLack?: "vanished" | "any" | undefined;
}

interface How {
  folder?: string | undefined;
  input?: string | undefined;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  pace?: "long" | "quick" | undefined;
  onText?: ((text: string) => void) | undefined;
  watched?: Watched | undefined;
  /** Beside what opens the repository. */
  source?: Readonly<Record<string, string>> | undefined;
}

export function createRepository(
  restic: Restic,
  { url, ...access }: Access & { url: string },
  limits: RepositoryLimits,
  locks: Locks = createLocks(() => performance.now(), limits),
  isFresh: () => boolean = () => false,
): Repository {
  const env = repositoryEnvironment(readTarget(url), access);
  const place = `target ${url}`;
  const { workMs } = limits;
  const long = { timeoutMs: workMs, pace: "long" } as const;

  /** Runs one command; again where another of this server, or only locks that are left over, stood in its way. */
  async function order(words: string[], how: How = {}) {
    const { signal, timeoutMs = limits.askMs, source } = how;
    const locking = lockingOf(words);
    const run = (...more: string[]) =>
      locks.running(place, () =>
        restic.run({ ...how, words: [...words, ...more], env: { ...env, ...source }, timeoutMs }),
      );
    let first = await run(...(locking === "look" ? [withoutLock] : []));
    for (let tries = 1; first.trouble === "locked" && tries < limits.lockTriesMax; tries++) {
      if (!(await locks.oneEnds(place, signal))) break;
      first = await run();
    }
    if (first.ok || first.trouble !== "locked" || signal?.aborted) return first;
    if (locking === "read") return unprotected(first, await run(withoutLock));
    const machines = await locks.leftOver(restic, env);
    if (machines === undefined) return first;
    for (const machine of [undefined, ...machines])
      await restic.run({ words: ["unlock"], env, machine, timeoutMs: limits.askMs });
    return run();
  }

  async function asked(what: string, words: string[], how?: How) {
    const done = await order(words, how);
    if (!done.ok) throw refused(`${what} at ${place}`, done);
    return done.stdout;
  }

  const list = async (words: string[], signal?: AbortSignal) =>
    readSnapshots(await asked("listing the copies", ["snapshots", "--json", ...words], { signal }));

  const drop = async (snapshots: readonly string[], signal?: AbortSignal) =>
    void (await asked("removing what is not a copy", ["forget", ...snapshots], { signal }));

  async function write(
    { folder, tags, exclude = [], parent, isEmpty = false, isAwaited = false, mayLack }: CopyOrder,
    signal: AbortSignal,
  ): Promise<BackupSummary> {
    const words = ["backup", "--json", "--host", access.installation, ...tags.flatMap((tag) => ["--tag", tag])];
    if (parent !== undefined) words.push("--parent", parent);
    // Every file is read again: the target may have lost what an earlier copy wrote. A first pass has just done that.
    else if (isFresh()) words.push("--force");
    const paths = [...exclude.flatMap((pattern) => ["--exclude", `${literal(folder)}/${pattern}`]), "."];
    const how: How = { ...long, signal, pace: isAwaited ? "quick" : "long" };
    const read = () => order([...words, ...paths], { ...how, folder });
    let done = isEmpty ? undefined : await read();
    // restic makes no snapshot of nothing, and the copy must say that nothing was there.
    if (done === undefined || done.trouble === "empty") {
      const only = [...words, "--stdin", "--stdin-filename", emptyFile];
      done = await order(only, { ...how, input: "\n" });
    }
    const summary = readSummary(done.stdout);
    const isEnough = done.ok || (done.lacks !== undefined && (mayLack === "any" || mayLack === done.lacks));
    if (!isEnough) {
      // A snapshot without all of its files must not be taken for a copy.
      if (summary !== undefined && done.trouble === "other") await drop([summary.snapshot]).catch(() => undefined);
      throw refused(`copying at ${place}`, done);
    }
    if (summary === undefined) throw new Failure("unavailable", `copying to ${place} ended without a snapshot`);
    return summary;
  }

  async function confirmed(summary: BackupSummary, signal: AbortSignal, listed?: readonly Snapshot[]) {
    const found = (listed ?? (await list([summary.snapshot], signal))).find(({ id }) =>
      id.startsWith(summary.snapshot),
    );
    if (found !== undefined) return { ...summary, snapshot: found.id };
    throw new Failure("unavailable", `${place} does not list the snapshot ${summary.snapshot} that it has taken`);
  }

  return {
    async make() {
      const found = await order(["cat", "config"]);
      if (found.ok) return;
      if (found.trouble !== "no_repository") throw refused(`opening ${place}`, found);
      await asked("making the repository", ["init"]);
    },
    snapshots: (signal) => list([], signal),
    write,
    confirmed,
    backup: async (copy, signal) => confirmed(await write(copy, signal), signal),
    drop,
    async forget(tags, keep, signal) {
      // All that has the tags is one group: by its other tags, what the folder was like before would never leave.
      const words = ["forget", "--json", "--tag", tags.join(","), "--group-by", "host", ...keep];
      return readRemoved(await asked("removing old copies", words, { signal, timeoutMs: workMs }));
    },
    async take(from, snapshot, signal) {
      const source = sourceEnvironment(readTarget(url), { ...access, ...from });
      await asked("taking a copy over", takeWords(await restic.version(), snapshot), { signal, ...long, source });
    },
    async prune(signal) {
      await asked("removing the data of old copies", ["prune"], { signal, ...long });
    },
    async check(part, signal) {
      await asked("checking what is", ["check", `--read-data-subset=${part}`], { signal, ...long });
    },
    ...createDamage({ order: (words, signal) => order(words, { signal, ...long }), list, refused, place }),
    async repairIndex(signal) {
      await asked("repairing the index", repairIndexWords(await restic.version()), { signal, ...long });
    },
    async totalSize(signal) {
      const words = ["stats", "--mode", "raw-data", "--json"];
      return readSize(await asked("measuring what is", words, { signal, timeoutMs: workMs }));
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
    async names(snapshot) {
      return namesIn(await asked("reading the copy", ["ls", "--json", snapshot, "/"]));
    },
    async text(snapshot, path) {
      const done = await order(["dump", snapshot, `/${path}`]);
      if (done.ok) return done.stdout;
      if (done.cause.includes("not found")) return "";
      throw refused(`reading the copy at ${place}`, done);
    },
    async restore(snapshot, folder, signal, path, onBytes) {
      const only = path === undefined ? ["--exclude", `/${emptyFile}`] : ["--include", includePattern(path)];
      const version = await restic.version();
      const words = restoreWords(version, { snapshot, folder, only });
      const done = await order(words, { signal, ...long, ...(onBytes && restoreProgress(version, folder, onBytes)) });
      if (done.ok) return;
      const failure = refused(`restoring from ${place}`, done);
      const wayOut =
        "take another copy (berth backup list), or the same from another target; what a target has lost: berth backup repair --dry-run";
      throw signal.aborted ? failure : new Failure(failure.code, `${failure.message}; ${wayOut}`);
    },
  };
}

const withoutLock = "--no-lock";

/** What was read without a lock has failed: the machine whose lock stands there may have removed it meanwhile. */
function unprotected<T extends { ok: boolean; cause: string }>(locked: T, read: T): T {
  if (read.ok) return read;
  const why = `${read.cause}; another machine may have removed data meanwhile (${locked.cause}): try again once it has ended`;
  return { ...read, cause: why };
}

/** The only file in the copy of an empty folder; no restore brings it back. */
const emptyFile = ".berth-empty-folder";

/** A path as a pattern that means only itself. */
const literal = (path: string) => path.replace(/[\\*?[\]]/g, "\\$&");

function refused(what: string, { trouble, cause }: { trouble: string; cause: string }): Failure {
  if (trouble === "locked") {
    const hint =
      "wait for its end; a lock that is left over goes by itself, 10 to 35 minutes after the server has seen it";
    return new Failure("unavailable", `${what} failed: ${cause}; ${hint}`, { reason: "Locked" });
  }
  if (trouble === "wrong_key") {
    const why = "another key opens what is there; choose another folder, or restore with the key of those copies";
    return new Failure("conflict", `${what} failed: ${why}`);
  }
  if (trouble === "no_repository") {
    const hint =
      "is it mounted? Give the address that berth backup target add got; adding it again makes a new place for copies";
    return new Failure("not_found", `${what} failed: it holds no copies of this server; ${hint}`);
  }
  return new Failure("unavailable", `${what} failed: ${cause}`);
}
