import type { AppVolumes, ContainerRef, CopiedVolume, Platform, Writer } from "../backups/service/platform.ts";
import type { DatabaseVolumes } from "../backups/service/restore-parts.ts";
import { folders } from "../backups/restic/folders.ts";
import { dumpClaim } from "../backups/core/subject.ts";
import { Failure } from "../base/wire/failure.ts";
import { backupLimits } from "../config/backup-limits.ts";
import { backupsVolume } from "../orchestration/api/manifest-key.ts";
import type { VolumeRoom } from "../orchestration/controller/rollout/volume-room.ts";
import type { ObservedPod } from "../orchestration/engine/pod.ts";
import type { openEngine } from "./engine.ts";
import type { Ground } from "./ground.ts";

/** The times of files are those of a coarser clock. */
const fileClockMarginMs = 1_000;

/** With the statefulsets that blocks of databases have become: they mount the volume of their backups. */
export function withDatabases(
  volumes: VolumeRoom,
  { names, store }: Pick<Ground, "names" | "store">,
): VolumeRoom & { databases(): DatabaseVolumes[] } {
  const databases = () =>
    volumes.apps().flatMap(({ kind, scope, name, volumes: its }) => {
      const wanted = backupsVolume(names, { scope, name });
      const backups = kind === "statefulset" ? its.find(({ volume }) => volume === wanted) : undefined;
      const owner = store.blocks.ownerOf({ kind, scope, name });
      if (backups === undefined || owner === undefined) return [];
      const hasWal = store.blocks.get(owner)?.spec.point_in_time !== undefined;
      const claims = its.filter(({ ordinal }) => ordinal !== undefined);
      const files: unknown = store.manifests.get({ kind: "asset", scope, name })?.spec.files;
      const isFillable = typeof files === "object" && files !== null && "kit_restore_sh" in files;
      return [{ scope, name, backups, claims, hasWal, isFillable }];
    });
  return { ...volumes, databases };
}

/** The apps of this server, as copies of volumes see them. */
export function createBackupPlatform({
  engine,
  stills,
  volumes,
}: Pick<Awaited<ReturnType<typeof openEngine>>, "engine" | "stills"> & { volumes: VolumeRoom }): Platform {
  return {
    apps: () => volumes.apps().flatMap(appOf),
    async folderOf(volume) {
      const found = await engine.inspectVolume(volume);
      if (found === undefined) throw new Failure("not_found", `the volume "${volume}" is gone`);
      if (found.mountpoint !== undefined) return found.mountpoint;
      const hint = "only volumes of the driver local, without options, are copied";
      throw new Failure("conflict", `the data of the volume "${volume}" is not in a folder of this machine: ${hint}`);
    },
    rootOf: folders.rootOf,
    isEmpty: folders.isMissingOrEmpty,
    refresh(folder, { since, isWritten }, signal) {
      const readSince = since === undefined ? undefined : since - fileClockMarginMs;
      const flushSince = isWritten ? Date.now() - backupLimits.writebackMs : undefined;
      return folders.refresh(folder, { readSince, flushSince }, signal);
    },
    isNearlySame: (folder, since) => folders.isNearlySame(folder, since - fileClockMarginMs, backupLimits),
    async writers(volume) {
      const users = (await engine.volumeUsers(volume)).flatMap(writerOf);
      const writing = await Promise.all(users.map(async (user) => ((await mayWrite(user, volume)) ? [user] : [])));
      return writing.flat();
    },
    async pause(container) {
      stills.add(container.id);
      return engine.pause(container);
    },
    async unpause(container) {
      await engine.unpause(container);
      stills.delete(container.id);
    },
    async shellOf({ subject, volume }, same) {
      const users = (await engine.volumeUsers(volume)).filter(({ state }) => state === "running");
      return users.find(({ id, identity }) => isReplicaOf(subject, identity) && id === (same?.id ?? id));
    },
    run,
  };

  function appOf(app: ReturnType<VolumeRoom["apps"]>[number]): AppVolumes[] {
    const { kind, scope, name, backup: policy, dump, volumes: known, updatedAt } = app;
    if (known.length === 0 && policy === undefined) return [];
    if (policy !== undefined && dump !== undefined) {
      const subject = { scope, kind, name, claim: dumpClaim, ordinal: undefined };
      return [{ scope, kind, name, policy, volumes: [{ subject, volume: "" }], updatedAt }];
    }
    const chosen = known.filter(({ claim }) => policy?.volumes?.includes(claim) ?? true);
    const copied = chosen.map(({ claim, ordinal, volume }) => {
      return { subject: { scope, kind, name, claim, ordinal }, volume };
    });
    return [{ scope, kind, name, policy, volumes: copied, updatedAt }];
  }

  async function mayWrite(container: ContainerRef, volume: string): Promise<boolean> {
    const mounts = (await engine.inspect(container))?.mounts ?? [];
    return mounts.some(({ type, source, rw }) => type === "volume" && source === volume && rw);
  }

  async function run(container: ContainerRef, command: readonly string[], signal: AbortSignal): Promise<void> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(backupLimits.commandMs)]);
    limit.throwIfAborted();
    const shell = { command: [...command], env: [], tty: false, interactive: false };
    const session = await engine.exec(container, shell);
    const onAbort = () => void session.kill().catch(() => undefined);
    limit.addEventListener("abort", onAbort, { once: true });
    try {
      let said = "";
      for await (const { bytes } of session.output) {
        said = (said + Buffer.from(bytes).toString("utf8")).slice(-backupLimits.commandOutputCharactersMax);
      }
      const code = await session.exitCode();
      if (limit.aborted) throw new Failure("conflict", "it was interrupted, or took too long");
      if (code !== 0) throw new Failure("conflict", `exit code ${code}; it printed last: ${said.trim() || "nothing"}`);
    } finally {
      limit.removeEventListener("abort", onAbort);
    }
  }
}

const writerStates: Partial<Record<ObservedPod["state"], Writer["state"]>> = {
  running: "running",
  paused: "paused",
  restarting: "restarting",
};

function writerOf({ node, id, name, state }: ObservedPod): Writer[] {
  const writes = writerStates[state];
  return writes === undefined ? [] : [{ node, id, name, state: writes }];
}

export function isReplicaOf(subject: CopiedVolume["subject"], identity: ObservedPod["identity"]): boolean {
  if (identity === undefined || identity.role !== undefined) return false;
  const { key, ordinal } = identity;
  const isApp = key.kind === subject.kind && key.scope === subject.scope && key.name === subject.name;
  return isApp && (subject.ordinal === undefined || ordinal === subject.ordinal);
}
