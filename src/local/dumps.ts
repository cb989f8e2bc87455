import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { VolumeSubject } from "../backups/core/subject.ts";
import { folders } from "../backups/restic/folders.ts";
import type { Dumps } from "../backups/service/platform.ts";
import { Failure, shownCause } from "../base/wire/failure.ts";
import { systemClock } from "../base/words/clock.ts";
import { backupLimits } from "../config/backup-limits.ts";
import type { VolumeRoom } from "../orchestration/controller/rollout/volume-room.ts";
import type { Engine } from "../orchestration/engine/engine.ts";
import type { ObservedPod } from "../orchestration/engine/pod.ts";
import type { ExecSession } from "../orchestration/engine/session.ts";
import { isReplicaOf } from "../daemon/backup-platform.ts";

interface DumpParts {
  engine: Engine;
  volumes: Pick<VolumeRoom, "apps">;
  /** Where dumps are while they are made or read. */
  folder: string;
}

/** Where the output of a command goes, and what it reads. */
interface Files {
  into?: string;
  from?: string;
}

/** Dumps of blocks, by the commands that their plugins declare. */
export function createDumps({ engine, volumes, folder: place }: DumpParts): Dumps {
  const limits = backupLimits;
  let cleared: Promise<void> | undefined;
  // A server that was killed leaves its own there. What a restore has begun, its record ends.
  const clear = async () => {
    await mkdir(place, { recursive: true, mode: 0o700 });
    for (const name of await readdir(place)) if (name.startsWith("dump-")) await folders.remove(join(place, name));
  };

  const appOf = ({ scope, kind, name }: VolumeSubject) =>
    volumes.apps().find((app) => app.kind === kind && app.scope === scope && app.name === name);

  function commandsOf(subject: VolumeSubject) {
    const declared = appOf(subject)?.dump;
    if (declared === undefined)
      throw new Failure("conflict", "the plugin of its block declares no backup commands any more");
    if (declared.refused !== undefined) throw new Failure("conflict", declared.refused);
    return declared;
  }

  const nameOf = ({ scope, name }: VolumeSubject) => `${scope}/${name}`;

  /** The first replica that runs. */
  async function podOf(subject: VolumeSubject): Promise<ObservedPod | undefined> {
    const pods = (await engine.observe()).filter(({ state }) => state === "running");
    const ordinal = ({ identity }: ObservedPod) => identity?.ordinal ?? 0;
    return pods.filter(({ identity }) => isReplicaOf(subject, identity)).sort((a, b) => ordinal(a) - ordinal(b))[0];
  }

  async function podWithin(subject: VolumeSubject, ms: number, signal: AbortSignal): Promise<ObservedPod> {
    const until = systemClock.steady() + ms;
    for (;;) {
      const pod = await podOf(subject);
      if (pod !== undefined) return pod;
      if (systemClock.steady() >= until) throw new Failure("conflict", `no pod of ${nameOf(subject)} runs`);
      await systemClock.sleep(limits.fillLookMs, signal);
      signal.throwIfAborted();
    }
  }

  async function run(pod: ObservedPod, command: readonly string[], { into, from }: Files, signal: AbortSignal) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(limits.workMs)]);
    limit.throwIfAborted();
    const shell = { command: [...command], env: [], tty: false, interactive: from !== undefined };
    const session = await engine.exec(pod, shell);
    const onAbort = () => void session.kill().catch(() => undefined);
    limit.addEventListener("abort", onAbort, { once: true });
    try {
      const fed = (from === undefined ? Promise.resolve() : feed(session, from)).then(
        () => undefined,
        (error: unknown) => error,
      );
      const said = await taken(session, into);
      const code = await session.exitCode();
      const unread = await fed;
      if (unread !== undefined) throw unread;
      if (limit.aborted) throw new Failure("conflict", "it was interrupted, or took too long");
      if (code !== 0) throw new Failure("conflict", `exit code ${code}; it printed last: ${said.trim() || "nothing"}`);
    } catch (error) {
      onAbort();
      throw error;
    } finally {
      limit.removeEventListener("abort", onAbort);
    }
  }

  /** Writes what it prints into the file, and answers with the end of its other output. */
  async function taken(session: ExecSession, into: string | undefined): Promise<string> {
    const file = into === undefined ? undefined : await open(into, "wx", 0o600);
    let [said, written, looked] = ["", 0, 0];
    try {
      for await (const { stream, bytes } of session.output) {
        if (file === undefined || stream === "stderr") {
          said = (said + Buffer.from(bytes).toString("utf8")).slice(-limits.commandOutputCharactersMax);
          continue;
        }
        if (written >= looked) {
          looked = written + spaceLookBytes;
          const { freeBytes } = await folders.space(place);
          if (freeBytes < limits.restoreSpareBytes)
            throw new Failure("storage_full", "the disk is too full for the dump; free some space");
        }
        await file.writeFile(bytes);
        written += bytes.length;
      }
      await file?.datasync();
    } finally {
      await file?.close();
    }
    return said;
  }

  return {
    async dump(subject, file, signal) {
      const { dump, check } = commandsOf(subject);
      const pod = await podWithin(subject, 0, signal);
      await run(pod, dump, { into: file }, signal).catch(failed("dump"));
      if (check !== undefined) await run(pod, check, { from: file }, signal).catch(failed("check"));
    },
    async restore(subject, file, signal) {
      const { restore } = commandsOf(subject);
      const pod = await podWithin(subject, limits.drillReadyMs, signal);
      await run(pod, restore, { from: file }, signal).catch(failed("restore"));
    },
    find(subject) {
      const app = appOf(subject);
      return app?.dump === undefined ? undefined : app.volumes;
    },
    async make(id) {
      cleared ??= clear();
      await cleared;
      const folder = join(place, id);
      await folders.remove(folder);
      await folders.make(folder);
      return folder;
    },
    remove: (id) => rm(join(place, id), { recursive: true, force: true }),
  };
}

/** How much is written between two looks at the free space. */
const spaceLookBytes = 32 * 1024 * 1024;

const failed = (command: string) => (error: unknown) => {
  const code = error instanceof Failure ? error.code : "conflict";
  throw new Failure(code, `the command ${command} of the plugin failed: ${shownCause(error)}`, { cause: error });
};

/** A command that ends before it has read everything says by its exit code whether that is a fault. */
async function feed(session: ExecSession, file: string): Promise<void> {
  try {
    for await (const bytes of createReadStream(file)) await session.write(bytes as Uint8Array);
    session.endInput();
  } catch (error) {
    if (!(error instanceof Failure && error.code === "conflict")) throw error;
  }
}
