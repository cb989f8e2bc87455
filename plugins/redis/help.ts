import { serverHelp } from "../kit/help.ts";

/** What `-h` says: how a command is written, and what it does. */
export const help: Readonly<Record<string, string>> = {
  ...serverHelp,
  info: "info SCOPE/NAME [-o json]\n\nshows role, keys, memory, lag, links, backups",
  cli: "cli SCOPE/NAME [--replica N] [-- COMMAND…]\n\nopens a session of redis-cli, or runs one command after --",
  query: "query SCOPE/NAME [--replica N] -- COMMAND…\n\nshows the answer of one command that only reads",
  link: "link SCOPE/NAME SCOPE/APP [--reads] [--database N] [--user U] [--as KEY]\n\nputs REDIS_URL into the config of an app",
  "backups:import":
    "backups:import SCOPE/NAME FILE|URL\n\nmakes a backup of a dump.rdb from a file of the server's machine or a URL",
  "backups:download": "backups:download SCOPE/NAME BACKUP [--to FILE]\n\nfetches the dump",
  failover: "failover SCOPE/NAME [--replica N] [--force] [--no-rejoin]\n\nmakes another pod primary",
  restore:
    "restore SCOPE/NAME BACKUP\n\nlets the keys of a backup take the place of those there are, which are backed up first",
};
