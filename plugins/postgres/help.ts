import { serverHelp } from "../kit/help.ts";

/** What `-h` says: how a command is written, and what it does. */
export const help: Readonly<Record<string, string>> = {
  ...serverHelp,
  info: "info SCOPE/NAME [-o json]\n\nshows role, lag, databases, users, links, backups",
  psql: "psql SCOPE/NAME [-d DATABASE] [-U USER] [--replica N] [-c SQL] [-- ARGUMENT…]\n\nopens a session as superuser, or runs one statement with -c",
  query:
    "query SCOPE/NAME -c SQL [-d DATABASE] [--replica N] [--limit N] [-o json]\n\nshows the rows of one statement, as a role that can only read",
  link: "link SCOPE/NAME SCOPE/APP [--reads] [--database D] [--user U] [--as KEY]\n\nputs DATABASE_URL into the config of an app",
  "backups:import":
    "backups:import SCOPE/NAME FILE|URL [--database D]\n\nmakes a backup of a dump of pg_dump -Fc from a file of the server's machine or a URL",
  "backups:download": "backups:download SCOPE/NAME BACKUP [--database D] [--to FILE]\n\nfetches a dump for pg_restore",
  promote: "promote SCOPE/NAME [--replica N] [--force] [--no-rejoin]\n\nmakes another pod primary",
  restore:
    "restore SCOPE/NAME BACKUP [--database D] (--into NEW | --replace)\n\nrestores a database of a backup, checked against the rows it had",
};
