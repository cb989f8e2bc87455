import type { Clock } from "../../base/words/clock.ts";
import type { Limit } from "../../base/words/limit.ts";
import type { Log } from "../../base/words/log.ts";
import type { Restore, RestoreWay } from "../api/restore.ts";
import type { Timing } from "../core/restore-choice.ts";
import type { VolumeSubject } from "../core/subject.ts";
import type { Folders } from "../restic/folders.ts";
import type { Dumps } from "./platform.ts";
import type { Databases } from "./databases.ts";
import type { Repository } from "./repository.ts";

/** The volumes of the platform, as restores need them. */
interface Volumes {
  /** Those that stored apps have, whether the engine has them or not. */
  databases(): DatabaseVolumes[];
  list(): (VolumeSubject & { volume: string; labels: Record<string, string> })[];
  /** `mountpoint`: the folder of its data; undefined where that is not a folder of this machine. */
  find(volume: string): Promise<{ mountpoint?: string | undefined } | undefined>;
  /** Where the engine keeps volumes. */
  folder(): Promise<string>;
  make(volume: string, labels: Record<string, string>): Promise<void>;
  remove(volume: string): Promise<void>;
  /** The volume that manifests of the scope mount as `name`. */
  named(scope: string, name: string): { volume: string; labels: Record<string, string> };
  /** Keeps apps that mount it from starting a container, until the returned function is called. */
  hold(volume: string): () => void;
  /** Stops the containers that mount it. Fails `conflict` where one is not a replica. */
  stopUsers(volume: string): Promise<void>;
}

/** What restores are made from. */
export interface RestoreParts {
  records: RestoreRecords;
  /** Names of all targets. */
  targets(): string[];
  source(target: string): Promise<Pick<Repository, "snapshots" | "size" | "restore" | "names" | "text">>;
  volumes: Volumes;
  wal: WalRoom;
  dumps: Dumps;
  folders: Folders;
  /** One command of restic at a time. */
  turn: Limit;
  clock: Clock;
  log: Log;
  /** See `config/backup-limits.ts`. */
  limits: {
    restoresKept: number;
    restoreKeptMs: number;
    restoreFailedMs: number;
    restoreSpareBytes: number;
    retryMs: number;
    lookMs: number;
    fillMs: number;
    fillLookMs: number;
  };
  randomBytes(count: number): Uint8Array;
  isOurs(folder: string): Promise<boolean>;
  onEvent(event: { actor: string; action: string; detail: Record<string, string> }): Promise<void>;
}

/** A restore of one volume as it is stored: what it has begun, so that the next start of the server can end it. */
export interface StoredRestore {
  id: string;
  group: string;
  actor: string;
  subject: VolumeSubject;
  way: RestoreWay;
  /** The volume that has the data afterwards, by its engine name; undefined for a folder. */
  volume: string | undefined;
  /** Labels of a volume that the restore makes. */
  labels: Record<string, string>;
  /** What manifests of the scope call the new volume; of `beside`. */
  mount: string | undefined;
  into: string | undefined;
  path: string | undefined;
  target: string;
  snapshot: string;
  /** Epoch milliseconds, as all times here. */
  at: number;
  bytes: number;
  /** Owner and mode of the volume's root folder, `MODE.UID.GID`; undefined where the copy does not say. */
  root: string | undefined;
  state: Restore["state"];
  startedAt: number;
  endedAt: number | undefined;
  error: string | undefined;
  /** Folder that restic writes to, and where what was replaced is afterwards. */
  stage: string | undefined;
  /** What is put where, once all of it is there, and what the file system calls the new data. */
  put: { from: string; to: string; fresh: string } | undefined;
  keptUntil: number | undefined;
  /** What fills a database; undefined for a volume that is restored itself. */
  database?: Fill | undefined;
}

/** Reads see the last commit; writes resolve once they are durable. */
export interface RestoreRecords {
  restores(): StoredRestore[];
  /** How long drills took. */
  drills(): Timing[];
  putRestore(restore: StoredRestore): Promise<void>;
  removeRestore(id: string): Promise<void>;
}

/** What is restored of one volume, before the restore has begun. */
export interface Planned extends Pick<
  StoredRestore,
  | "subject"
  | "way"
  | "volume"
  | "labels"
  | "mount"
  | "into"
  | "path"
  | "target"
  | "snapshot"
  | "at"
  | "bytes"
  | "root"
  | "database"
> {
  /** Data that is there now is replaced. */
  replaces: boolean;
}

/** The volumes of a database that is a block, by their engine names, with what they carry where this server makes them. */
export interface DatabaseVolumes {
  scope: string;
  name: string;
  /** The volume of all its backups. */
  backups: { volume: string; labels: Record<string, string> };
  /** The volumes of its pods. */
  claims: { claim: string; volume: string; labels: Record<string, string> }[];
  /** Its WAL goes to a target. */
  hasWal: boolean;
  /** Its pods know how to fill an empty volume: see plugins/kit/restore.sh. */
  isFillable: boolean;
}

/** What a database is filled with. */
export interface Fill extends Pick<DatabaseVolumes, "backups" | "claims"> {
  /** Id of a backup in the volume of all backups; undefined: base backup and WAL. */
  backup: string | undefined;
  /** The time to replay WAL to, in epoch milliseconds; undefined for all that there is. */
  until: number | undefined;
}

/** What restores need of databases whose WAL goes to a target. */
export type WalRoom = Pick<Databases, "newest" | "fetch">;
