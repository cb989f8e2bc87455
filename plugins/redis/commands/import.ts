import { importCommand } from "../../kit/import.ts";
import { redisKind } from "../server.ts";

/** `backups:import SCOPE/NAME FILE|URL`. */
export const importBackup = importCommand({
  kind: redisKind,
  magic: "REDIS",
  what: "a dump.rdb",
  flags: [],
  wordsOf: () => [],
});
