import type { Gate } from "../../base/deliver/gate.ts";
import type { SteadyClock } from "../../base/words/clock.ts";
import type { Limit } from "../../base/words/limit.ts";
import type { Log } from "../../base/words/log.ts";
import type { Restic } from "../restic/restic.ts";
import type { Life } from "./life.ts";
import type { Dumps, ImageRoom, Platform, ServerPart } from "./platform.ts";
import type { BackupRecords } from "./records.ts";
import type { RepositoryLimits } from "./repository.ts";
import type { PauseRecords } from "./still.ts";

export interface BackupOptions {
  records: BackupRecords & PauseRecords;
  /** Apps and their volumes. */
  platform: Platform;
  images: ImageRoom;
  dumps: Dumps;
  /** What the server holds beside its state. */
  parts: readonly ServerPart[];
  restic: Restic;
  /** Copies and restores: one at a time. */
  turn: Limit;
  /** What reads copies beside them, such as a drill, and what needs a whole repository for itself: one at a time. */
  reading: Limit;
  installationId: string;
  gate: Gate;
  /** Whether this server acts for its installation. */
  life: Life;
  isUnconfirmed(): boolean;
  /** Another server took the place of this one. */
  onReplaced(): Promise<void>;
  clock: SteadyClock;
  log: Log;
  /** See `config/backup-limits.ts`. */
  limits: RepositoryLimits & {
    lookMs: number;
    everyMinMs: number;
    everyDefaultMs: number;
    retryMs: number;
    pruneEveryMs: number;
    forgetEveryMs: number;
    copiesKnownMax: number;
    checkEveryMs: number;
    checkParts: number;
    sizeEveryMs: number;
    sizesKept: number;
    stateLookMs: number;
    changedCopyMs: number;
    twinLookMs: number;
    firstLookMs: number;
    staleLookMs: number;
    handoverMs: number;
    targetsMax: number;
    runsKept: number;
    oldRunsMs: number;
    pauseMaxMs: number;
    littlePauseMs: number;
    unpauseRetryMs: number;
    commandAloneMs: number;
    imagesKeptMs: number;
    restoreSpareBytes: number;
    postStopMs: number;
    repairsKept: number;
    missingShownMax: number;
  };
  randomBytes(count: number): Uint8Array;
  /** Whether a folder, or what it would be made in, lies in the server's own: copies there are lost with the server. */
  isOurs(folder: string): Promise<boolean>;
  /** Writes the server's state into a folder that holds nothing else. `close` removes the folder. */
  stage(): Promise<{ folder: string; close(): Promise<void> }>;
  /** A digest of what is copied soon after it changed. */
  stateDigest(): string;
  /** The state was copied to a target. */
  onCopied(at: number): Promise<void>;
  /** For the event log: a target changed, or the recovery key was shown. */
  onEvent(event: { actor: string; action: string; detail: Record<string, string> }): Promise<void>;
}
