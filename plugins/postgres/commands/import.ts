import { importCommand } from "../../kit/import.ts";
import { usage } from "../../kit.ts";
import { postgresKind } from "../server.ts";

/** `backups:import SCOPE/NAME FILE|URL [--database D]`. */
export const importBackup = importCommand({
  kind: postgresKind,
  magic: "PGDMP",
  what: "a dump of pg_dump -Fc",
  flags: ["database"],
  wordsOf({ database }, { env }) {
    const name = database ?? env.PG_DATABASE ?? "";
    if (!/^[a-z_][a-z0-9_]{0,40}$/.test(name)) throw usage(`"${name}" is not a database name`);
    return [name];
  },
});
