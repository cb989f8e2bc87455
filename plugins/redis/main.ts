import { readBlock } from "../kit/block.ts";
import { platformPrefix } from "../kit/controller.ts";
import { newPassword } from "../kit/secret.ts";
import type { PluginHandlers } from "../kit.ts";
import { expandRedis } from "./expand.ts";
import { redisKind } from "./server.ts";

/** Each command is loaded when it is called: expand is called often and needs none of them. */
export const redis: PluginHandlers = {
  expand: (call) => expandRedis(readBlock(call), { envPrefix: platformPrefix(call.env), newPassword }),
  commands: {
    info: async (call) => (await import("./commands/info.ts")).info(call),
    cli: async (call) => (await import("./commands/cli.ts")).cli(call),
    query: async (call) => (await import("./commands/query.ts")).query(call),
    link: async (call) => (await import("./commands/link.ts")).link(call),
    "new-password": async (call) => (await import("./commands/new-password.ts")).newPasswordFor(call),
    failover: async (call) => (await import("./commands/failover.ts")).failover(call),
    attend: async (call) => (await import("./commands/failover.ts")).attend(call),
    restore: async (call) => (await import("./commands/restore.ts")).restore(call),
    "backups:import": async (call) => (await import("./commands/import.ts")).importBackup(call),
    "backups:logs": async (call) => (await import("../kit/backup-runs.ts")).backupLogsCommand(redisKind)(call),
    "backups:cancel": async (call) => (await import("../kit/backup-runs.ts")).cancelBackupsCommand(redisKind)(call),
    "backups:prune": async (call) => (await import("../kit/server.ts")).pruneBackupsCommand(redisKind)(call),
    expose: async (call) =>
      (await import("../kit/expose.ts")).exposeCommand(redisKind, ({ env }) => env.REDIS_PORT ?? "6379")(call),
    unexpose: async (call) =>
      (await import("../kit/expose.ts")).unexposeCommand(redisKind, ({ env }) => env.REDIS_PORT ?? "6379")(call),
    "get-conf": async (call) => (await import("./commands/get-conf.ts")).getConf(call),
    "backups:download": async (call) => (await import("./commands/download.ts")).downloadBackup(call),
    unlink: async (call) => (await import("../kit/server.ts")).unlinkCommand(redisKind)(call),
    rejoin: async (call) => (await import("../kit/server.ts")).rejoinCommand(redisKind)(call),
    backup: async (call) => (await import("../kit/server.ts")).backupCommand(redisKind)(call),
    backups: async (call) => (await import("../kit/server.ts")).backupsCommand(redisKind)(call),
    "backups:check": async (call) => (await import("../kit/server.ts")).checkBackupCommand(redisKind)(call),
    "backups:delete": async (call) => (await import("../kit/server.ts")).deleteBackupCommand(redisKind)(call),
  },
};
