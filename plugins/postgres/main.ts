import { readBlock } from "../kit/block.ts";
import { platformPrefix } from "../kit/controller.ts";
import { newPassword } from "../kit/secret.ts";
import type { PluginHandlers } from "../kit.ts";
import { expandPostgres } from "./expand.ts";
import { postgresKind } from "./server.ts";

/** Each command is loaded when it is called: expand is called often and needs none of them. */
export const postgres: PluginHandlers = {
  expand: (call) => expandPostgres(readBlock(call), { envPrefix: platformPrefix(call.env), newPassword }),
  commands: {
    info: async (call) => (await import("./commands/info.ts")).info(call),
    psql: async (call) => (await import("./commands/psql.ts")).psql(call),
    query: async (call) => (await import("./commands/query.ts")).query(call),
    link: async (call) => (await import("./commands/link.ts")).link(call),
    "new-password": async (call) => (await import("./commands/new-password.ts")).newPasswordFor(call),
    promote: async (call) => (await import("./commands/promote.ts")).promote(call),
    attend: async (call) => (await import("./commands/promote.ts")).attend(call),
    restore: async (call) => (await import("./commands/restore.ts")).restore(call),
    times: async (call) => (await import("./commands/restore-at.ts")).times(call),
    "backups:import": async (call) => (await import("./commands/import.ts")).importBackup(call),
    "backups:logs": async (call) => (await import("../kit/backup-runs.ts")).backupLogsCommand(postgresKind)(call),
    "backups:cancel": async (call) => (await import("../kit/backup-runs.ts")).cancelBackupsCommand(postgresKind)(call),
    "backups:prune": async (call) => (await import("../kit/server.ts")).pruneBackupsCommand(postgresKind)(call),
    expose: async (call) =>
      (await import("../kit/expose.ts")).exposeCommand(postgresKind, ({ env }) => env.PG_PORT ?? "5432")(call),
    unexpose: async (call) =>
      (await import("../kit/expose.ts")).unexposeCommand(postgresKind, ({ env }) => env.PG_PORT ?? "5432")(call),
    "get-conf": async (call) => (await import("./commands/get-conf.ts")).getConf(call),
    "backups:download": async (call) => (await import("./commands/download.ts")).downloadBackup(call),
    unlink: async (call) => (await import("../kit/server.ts")).unlinkCommand(postgresKind)(call),
    rejoin: async (call) => (await import("../kit/server.ts")).rejoinCommand(postgresKind)(call),
    backup: async (call) => (await import("../kit/server.ts")).backupCommand(postgresKind)(call),
    backups: async (call) => (await import("../kit/server.ts")).backupsCommand(postgresKind)(call),
    "backups:check": async (call) => (await import("../kit/server.ts")).checkBackupCommand(postgresKind)(call),
    "backups:delete": async (call) => (await import("../kit/server.ts")).deleteBackupCommand(postgresKind)(call),
  },
};
