import type { Verb } from "./command.ts";

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
];
