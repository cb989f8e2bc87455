import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";
import { MapOf, Shape } from "../../base/wire/shape.ts";
import { AppDrill } from "./drills.ts";

/** One copy, of the server's state or of a volume, to one target, under way or ended. Times are ISO 8601, sizes bytes. */
export const BackupRun = Type.Object({
  target: Type.String(),
  what: Type.String({ description: "state, or of a volume scope/name/volume, with /ordinal behind it for a claim" }),
  started_at: Type.String(),
  ended_at: Type.Optional(Type.String({ description: "absent while it is under way" })),
  snapshot: Type.Optional(Type.String({ description: "its id at the target, where it was listed afterwards" })),
  bytes: Type.Optional(Type.Integer({ description: "size of what was copied" })),
  added: Type.Optional(Type.Integer({ description: "what it added at the target" })),
  paused_ms: Type.Optional(Type.Integer({ description: "how long the containers that use the volume were paused" })),
  error: Type.Optional(Type.String({ description: "why it failed" })),
});
export type BackupRun = Static<typeof BackupRun>;

export const BackupTarget = Type.Object({
  name: Type.String(),
  url: Type.String({ description: "its address, without credentials" }),
  every: Type.String({ description: "how often a copy is made" }),
  keep: Type.String({ description: "how many copies are kept: 24h 7d 4w 12m" }),
  created_at: Type.String(),
  append_only: Type.Optional(
    Type.Boolean({ description: "copies that are too old are removed there from elsewhere, not by this server" }),
  ),
  images: Type.Optional(Type.Boolean({ description: "it takes copies of images that no registry holds, too" })),
  logs: Type.Optional(Type.Boolean({ description: "it takes copies of stored logs, metrics and traces, too" })),
  size_bytes: Type.Optional(Type.Integer({ description: "as it was last measured, once a day" })),
  growth_bytes: Type.Optional(Type.Integer({ description: "a day, over the last 30 measures" })),
  max_size_bytes: Type.Optional(Type.Integer()),
  checked_at: Type.Optional(Type.String({ description: "when restic last read a part of the data there" })),
  check_error: Type.Optional(Type.String({ description: "why that failed; absent after a success" })),
  state_at: Type.Optional(
    Type.String({ description: "the newest copy holds the state of this time: now, where nothing changed since" }),
  ),
  last_success_at: Type.Optional(
    Type.String({ description: "start of the newest copy that was listed at the target" }),
  ),
  last_error: Type.Optional(Type.String({ description: "why the newest run failed; absent after a success" })),
  failing_since: Type.Optional(Type.String({ description: "of last_error: start of the first run that failed" })),
  volume_errors: Type.Optional(
    Type.Array(Type.String(), {
      description: "volumes, images, repositories and logs whose newest copy to it failed, and why",
    }),
  ),
  next_at: Type.Optional(Type.String({ description: "start of the next copy; absent while copies are held" })),
  held: Type.Optional(Type.String({ description: "why no copy is made now" })),
});
export type BackupTarget = Static<typeof BackupTarget>;

/** The newest copies of one volume at one target. */
const VolumeCopies = Type.Object({
  target: Type.String(),
  at: Type.Optional(Type.String({ description: "start of the newest copy; absent where there is none" })),
  bytes: Type.Optional(Type.Integer({ description: "its size" })),
  failing_since: Type.Optional(Type.String({ description: "absent where the newest run succeeded" })),
  error: Type.Optional(Type.String({ description: "why the newest run failed" })),
});
export type VolumeCopies = Static<typeof VolumeCopies>;

/** Whether the volumes of an app are copied, and how that goes. */
export const AppBackup = Type.Object({
  every: Type.Optional(Type.String({ description: "how often; absent for an app that is not protected" })),
  target: Type.Optional(Type.String({ description: "only to this target; default: to every one" })),
  volumes: Type.Array(
    Type.Object({
      volume: Type.String({ description: "name of the volume, or CLAIM/ORDINAL" }),
      copies: Type.Array(VolumeCopies, { description: "one for each target that it is copied to, or was" }),
    }),
  ),
  drill: Type.Optional(AppDrill),
});
export type AppBackup = Static<typeof AppBackup>;

export const BackupTargetBody = Shape({
  url: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description: "/FOLDER, s3://HOST/BUCKET/PATH, sftp://USER@HOST/PATH or rest:https://HOST/PATH",
  }),
  credentials: Type.Optional(
    MapOf(
      Type.String({ maxLength: 2_000 }),
      "of s3: access_key_id and secret_access_key; of rest: user and password; stored sealed",
    ),
  ),
  every: Type.Optional(Type.String({ description: 'how often a copy is made, like "1h" or "1d" (default 1h)' })),
  max_size: Type.Optional(
    Type.String({ maxLength: 20, description: "an alert fires when the target is larger: 50GB" }),
  ),
  append_only: Type.Optional(Type.Boolean({ description: "remove nothing there (default false)" })),
  images: Type.Optional(
    Type.Boolean({ description: "copy images of apps that no registry holds, too (default false)" }),
  ),
  logs: Type.Optional(
    Type.Boolean({ description: "copy stored logs, metrics and traces once a day, too (default false)" }),
  ),
  keep: Type.Optional(Type.String({ maxLength: 100, description: 'how many are kept (default "24h 7d 4w 12m")' })),
});
export type BackupTargetBody = Static<typeof BackupTargetBody>;

const targetsPath = "/backups/targets";

export const listBackupApps = endpoint({
  method: "GET",
  path: "/backups/apps",
  scope: "read",
  summary:
    "Apps with volumes: whether they are protected, the newest copy of each volume at each target, and how the last drill went",
  data: Type.Object({
    apps: Type.Array(
      Type.Object({ kind: Type.String(), scope: Type.String(), name: Type.String(), ...AppBackup.properties }),
    ),
  }),
});

export const listBackupTargets = endpoint({
  method: "GET",
  path: targetsPath,
  scope: "host:read",
  summary: "Where copies of the server's state go to, and how the last one went",
  data: Type.Object({ targets: Type.Array(BackupTarget) }),
});

export const putBackupTarget = endpoint({
  method: "PUT",
  path: `${targetsPath}/:name`,
  summary: "Add a target, or change it, once its repository was opened; 409 where it is another server's",
  body: BackupTargetBody,
  data: BackupTarget,
});

export const testBackupTarget = endpoint({
  method: "POST",
  path: `${targetsPath}/:name/test`,
  summary: "Open the repository of a target and list what is in it",
  data: Type.Object({ name: Type.String(), snapshots: Type.Integer(), newest_at: Type.Optional(Type.String()) }),
});

export const deleteBackupTarget = endpoint({
  method: "DELETE",
  path: `${targetsPath}/:name`,
  summary: "Make no more copies there; those that are there stay",
  data: Type.Object({ name: Type.String() }),
});

export const backupKey = endpoint({
  method: "GET",
  path: "/backups/key",
  summary: "The recovery key, which opens every copy of this server",
  data: Type.Object({ key: Type.String() }),
});

export const newBackupKey = endpoint({
  method: "POST",
  path: "/backups/key",
  summary:
    "Make a new recovery key: from now on, copies go to a new repository at each target, which only that key opens",
  data: Type.Object({ key: Type.String(), targets: Type.Array(Type.String()) }),
});

export const runBackup = endpoint({
  method: "POST",
  path: "/backups/runs",
  scope: "admin",
  summary:
    "Begin to copy the server's state and the protected volumes; each copy has a run that started at `since` or later when it has ended",
  query: Type.Object({ target: Text("only to this target"), app: Text("only the volumes of this app: scope/name") }),
  data: Type.Object({
    since: Type.String(),
    copies: Type.Array(Type.Object({ target: Type.String(), what: Type.String({ description: "as in a run" }) })),
  }),
});

export const listBackupRuns = endpoint({
  method: "GET",
  path: "/backups/runs",
  scope: "host:read",
  summary: "The newest runs of each target, of the state and of each volume, newest first",
  query: Type.Object({ target: Text("only of this target") }),
  data: Type.Object({ runs: Type.Array(BackupRun) }),
});

export const listSnapshots = endpoint({
  method: "GET",
  path: "/backups/snapshots",
  scope: "host:read",
  summary: "The copies that are at the targets, newest first, as the targets list them now",
  query: Type.Object({ target: Text("only of this target") }),
  data: Type.Object({
    snapshots: Type.Array(
      Type.Object({
        target: Type.String(),
        id: Type.String(),
        at: Type.String(),
        what: Type.String({ description: "as in a run" }),
        volume: Type.Optional(
          Type.Object({
            scope: Type.String(),
            kind: Type.String(),
            name: Type.String(),
            claim: Type.String({ description: "name of the claim, or of the volume in the manifest" }),
            ordinal: Type.Optional(Type.Integer({ description: "of a claim" })),
          }),
        ),
        damaged: Type.Optional(
          Type.Boolean({ description: "a part of it is lost at the target: only a restore that names it takes it" }),
        ),
      }),
    ),
    unreachable: Type.Array(Type.Object({ target: Type.String(), why: Type.String() })),
  }),
});

export const takeOver = endpoint({
  method: "POST",
  path: "/backups/take-over",
  summary: "Act for this installation: any other server of it stops acting once it has looked at a target",
  data: Type.Object({
    number: Type.Integer({ description: "the generation that the targets have now" }),
    targets: Type.Array(Type.String(), { description: "those that answered" }),
    acts_at: Type.String({
      description: "when cron jobs, webhooks and mails go on here: the other server needs a moment",
    }),
  }),
});

export const backupEndpoints = [
  ...[listBackupApps, listBackupTargets, putBackupTarget, testBackupTarget, deleteBackupTarget],
  ...[backupKey, newBackupKey, runBackup, listBackupRuns, listSnapshots, takeOver],
];
