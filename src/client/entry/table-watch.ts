import type { Verb } from "../shell/command.ts";

/** Verbs for who watches the server and its machine. */
export const watchVerbs: readonly Verb[] = [
  {
    name: "searches",
    summary: "save log searches under names, for everybody",
    load: async () => (await import("../commands/searches.ts")).searchesCommand,
  },
  {
    name: "boards",
    summary: "save boards of charts for the web UI",
    load: async () => (await import("../commands/boards.ts")).boardsCommand,
  },
  {
    name: "history",
    summary: "list every state that was wanted: when, who and why",
    load: async () => (await import("../commands/events.ts")).historyCommand,
  },
  {
    name: "restore",
    summary: "with --manifests: go back to the manifests of an earlier time",
    load: async () => (await import("../commands/events.ts")).restoreManifestsCommand,
  },
  {
    name: "backup",
    summary: "copy state and volumes to places outside of the machine, by itself, encrypted",
    load: async () => (await import("../commands/backup.ts")).backupCommand,
  },
  {
    name: "disk",
    summary: "show what fills the disk of the server, and the volumes",
    load: async () => (await import("../commands/disk.ts")).diskCommand,
  },
  {
    name: "prune",
    summary: "remove build cache and images that nothing needs",
    load: async () => (await import("../commands/prune.ts")).pruneCommand,
  },
];
