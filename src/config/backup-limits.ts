import { totalmem } from "node:os";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Limits of the copies of the server's state at targets outside of the machine. */
export const backupLimits = {
  /** Pause before a start tries again to end what a killed server has left: a restore, a `post`, a drill. */
  lookMs: 30_000,
  /** How often it is looked whether a copy is due, and the least time between two of the state: a change is copied within a minute. */
  stateLookMs: 10_000,
  changedCopyMs: 40_000,
  /** How often it is looked at the targets whether another server has taken this one's place. */
  twinLookMs: minute,
  /** How long a start waits for that before anything acts by itself: a target that is away holds nothing for longer. */
  firstLookMs: 30_000,
  /** The same, before a cron job runs, where no target has answered for more than a look. */
  staleLookMs: 10_000,
  /** A server that takes the place of another waits until that one has looked. */
  handoverMs: 90_000,
  everyMinMs: minute,
  everyDefaultMs: hour,
  /** Pause after a copy that failed, where copies are not made more often anyway. */
  retryMs: 5 * minute,
  /** How long an app is held still for the copy of a volume, and how often a failed end of that is tried again. */
  pauseMaxMs: 10_000,
  /** A volume of which no more has changed is read only while its app is paused, for this time at most; otherwise first while it runs. */
  littleChangedBytes: 32 * 1024 * 1024,
  littleFiles: 20_000,
  littlePauseMs: 5_000,
  unpauseRetryMs: 1_000,
  /** Dirty pages of a mapped file are written back within half of this: until then its time of change may be old. */
  writebackMs: 60_000,
  /** Records of the runs of a volume whose app is gone. */
  oldRunsMs: 30 * day,
  /** A command `pre` or `post`, and what is kept of its output. */
  commandMs: 30 * minute,
  /** After this time, other copies and restores pass while the command goes on. */
  commandAloneMs: minute,
  /** How long `post` may go on when the server stops: the next start runs it again. */
  postStopMs: 5_000,
  commandOutputCharactersMax: 400,
  /** How often a target is checked, and in how many parts its data is read: one at each check. */
  checkEveryMs: 7 * day,
  checkParts: 26,
  /** How often the size of a target is measured, and how many of these are kept. */
  sizeEveryMs: day,
  sizesKept: 30,
  /** Copies at each target that this server remembers, to notice that one is missing. */
  copiesKnownMax: 2_000,
  /** How often copies that are too old leave the list. */
  forgetEveryMs: hour,
  /** How often their data is removed: that reads and writes packs of data again. */
  pruneEveryMs: day,
  targetsMax: 10,
  /** Records of runs, for each target. */
  runsKept: 50,
  /** A command of restic that reads or writes little. restic itself tries for 15 minutes where a target does not answer. */
  askMs: 25_000,
  /** A lock of another machine that has not changed for this long is left over: restic writes those in use again each 5 minutes. */
  lockStaleMs: 35 * minute,
  /** The same of a server of this installation, which ends a command that gets no answer for `resticStallMs`. */
  serverLockStaleMs: 10 * minute,
  /** How long a command waits for another of this server that has locked the repository, and how often. */
  lockWaitMs: minute,
  lockTriesMax: 5,
  /** A copy, a restore, or the removal of old copies. */
  workMs: 6 * hour,
  /** The last part of what restic says is kept: lists of snapshots are below this. */
  resticOutputBytesMax: 16 * 1024 * 1024,
  /** How long a copy of an image stays that no app needs any more. */
  imagesKeptMs: 30 * day,
  /** How often stored logs, metrics and traces are copied, and how many of these copies stay: each holds all that is stored. */
  logsEveryMs: day,
  logsKeep: "7d",
  /** Rows of restores that have ended. */
  restoresKept: 100,
  /** How long the alert about a restore that failed stays, unless another one of the volume begins. */
  restoreFailedMs: day,
  /** How long a restore in place keeps what it replaced. */
  restoreKeptMs: 7 * day,
  /** How long a pod may take to fill its database, and how often it is looked whether it has. */
  fillMs: 12 * hour,
  fillLookMs: 1_000,
  /** A restore leaves this much of its disk free. */
  restoreSpareBytes: 256 * 1024 * 1024,
  /** How often the copies of an app are tried: a week after the last drill, a day after one that failed, and after it was protected. */
  drillEveryMs: 7 * day,
  drillRetryMs: day,
  drillFirstMs: day,
  /** How often it is looked whether one is due, and how long the restored apps of a scope have to be ready. */
  drillLookMs: minute,
  drillReadyMs: 10 * minute,
  /** An alert fires where no drill has succeeded for this long. */
  drillOldMs: 14 * day,
  /** A drill leaves this much memory and disk free: live apps go on meanwhile, and write. */
  drillSpareMemoryBytes: 256 * 1024 * 1024,
  drillSpareDiskBytes: 1024 * 1024 * 1024,
  /** Repairs of targets that are listed, and lost paths of one copy. */
  repairsKept: 20,
  missingShownMax: 100,
  /** Rehearsals that are listed, and how long an app without a check may start before a release command that may need it. */
  rehearsalsMax: 20,
  rehearsalHeadStartMs: 5_000,
  /** What a copy gets of the processors while an app, which has 100, wants them too; of memory, before the kernel slows it down. */
  copyCpuWeight: 10,
  copyMemoryHighBytes: Math.max(512 * 1024 * 1024, Math.floor(totalmem() / 4)),
  resticKillGraceMs: 10_000,
  /** How often it is counted what a restore has written, of a restic that does not say it. */
  resticWatchMs: 2_000,
  /** restic tries each request again for 15 minutes: a target that fails for as long as this is given up, until the next copy. */
  resticStallMs: minute,
};

/** Limits of databases by point in time. Those within the pods are in plugins/postgres/wal.sh. */
export const pointInTimeLimits = {
  /** How often the outboxes are looked into: WAL of the last seconds is there every 3 seconds. */
  lookMs: 2_000,
  /** How often it is asked which databases there are. */
  listMs: 10_000,
  /** Pause after the target did not take something. */
  retryMs: 10_000,
  /** Packed WAL that is shipped at once: it is on the disk twice meanwhile. */
  batchBytes: 64 * 1024 * 1024,
  /** One file of packed WAL: a segment has 1 GiB at most, and packing adds a little to what is random. */
  walFileBytesMax: 1_100 * 1024 * 1024,
  /** A command of rclone that lists, or reads little. */
  askMs: 60_000,
  /** A base backup, or WAL of days. */
  workMs: 12 * hour,
  /** Lists of a target: 100 bytes a file. */
  outputBytesMax: 256 * 1024 * 1024,
};
