import type { PartName, VolumeSubject } from "../core/subject.ts";
import type { StoredTarget } from "./records.ts";

/** What copies of volumes need of the apps of this server. */
export interface Platform {
  /** Deployments and statefulsets with volumes, those without `backup` too. */
  apps(): AppVolumes[];
  /** Folder of the data of a volume, on this machine. Fails `not_found` for one that is gone, `conflict` for one that lies elsewhere. */
  folderOf(volume: string): Promise<string>;
  /** Whether a folder holds nothing. */
  isEmpty(folder: string): Promise<boolean>;
  /** Whether little of a folder was changed since a time, and it holds few files, so that a look at it takes no time. */
  isNearlySame(folder: string, since: number): Promise<boolean>;
  /**
   * Makes restic read the files again that were changed since a time (none without one): a mapped file can have other content at
   * the same time of change. `isWritten`: has on the disk what was written lately; from then on, the next write to a mapped file
   * gives it a new time.
   */
  refresh(folder: string, how: { since: number | undefined; isWritten: boolean }, signal: AbortSignal): Promise<void>;
  /** Owner and mode of a folder, `MODE.UID.GID`. */
  rootOf(folder: string): Promise<string>;
  /** Containers that can write to a volume now, ours or not: those that run, are paused, or are about to start again. */
  writers(volume: string): Promise<Writer[]>;
  /** False where it does not run. */
  pause(container: ContainerRef): Promise<boolean>;
  unpause(container: ContainerRef): Promise<void>;
  /** Where commands of the app run: a container that has the volume, or `same` if it does. Undefined where none runs. */
  shellOf(volume: CopiedVolume, same?: ContainerRef): Promise<ContainerRef | undefined>;
  /** Runs a command to its end. Fails `conflict` with what it printed last where its exit code is not 0. */
  run(container: ContainerRef, command: readonly string[], signal: AbortSignal): Promise<void>;
}

export interface ContainerRef {
  node: string;
  id: string;
  startedAt?: number | undefined;
}

export interface Writer extends ContainerRef {
  name: string;
  state: "running" | "paused" | "restarting";
}

export interface CopiedVolume {
  subject: VolumeSubject;
  /** Its name in the engine; empty for a dump. */
  volume: string;
}

/** All data of a block, as the commands that its plugin declares print and read it in one of its pods. */
export interface Dumps {
  /** Writes a dump into the file, and has the plugin check it. Fails where one of its commands does, or may not be run. */
  dump(of: VolumeSubject, file: string, signal: AbortSignal): Promise<void>;
  /** Waits for a pod of the block, and gives it the dump. */
  restore(of: VolumeSubject, file: string, signal: AbortSignal): Promise<void>;
  /** Whether the block is there, and its plugin has such commands; the volumes of its pods. */
  find(of: VolumeSubject): { volume: string; labels: Record<string, string> }[] | undefined;
  /** A new empty folder for one copy or restore, in the place of one that a killed server has left. */
  make(id: string): Promise<string>;
  remove(id: string): Promise<void>;
}

export interface AppVolumes {
  scope: string;
  kind: string;
  name: string;
  /** Undefined: the app is not protected. */
  policy: CopyPolicy | undefined;
  /** Those that `policy` chooses; without one, all. */
  volumes: CopiedVolume[];
  /** When its manifest was stored last; epoch milliseconds. */
  updatedAt: number;
}

/** The field `backup`, defaults filled in. */
export interface CopyPolicy {
  everyMs: number;
  everyText: string;
  /** Undefined: what the target says. */
  keep: string | undefined;
  /** Undefined: every target. */
  target: string | undefined;
  pre: readonly string[];
  post: readonly string[];
  exclude: readonly string[];
}

/** The images of the engine. */
export interface ImageRoom {
  /** Ids of those that apps run on, or that a rollback goes back to, and that no registry is known to hold. */
  wanted(): string[];
  /** Undefined where the engine does not have it. */
  sizeOf(id: string): Promise<number | undefined>;
  /** A new folder of its own, and the bytes that are free there. `close` removes it. */
  stage(): Promise<{ folder: string; freeBytes: number; close(): Promise<void> }>;
  save(id: string, folder: string): Promise<void>;
  load(folder: string): Promise<void>;
}

/** What the server holds beside its state, such as git repositories: files that others write. */
export interface ServerPart {
  name: PartName;
  isTaken(target: StoredTarget): boolean;
  /** How often it is copied at the most: only where it has changed. */
  everyMs(target: StoredTarget): number;
  keep(target: StoredTarget): string;
  /** Digest of what is there now; empty where nothing is. */
  digest(): string;
  /** Puts a copy that can be read whole, while others write, into a folder that holds nothing else. `close` removes it. */
  stage(): Promise<{ folder: string; close(): Promise<void> }>;
}
