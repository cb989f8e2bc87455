/** What `-h` says: how a command is written, and what it does. */
export const help: Readonly<Record<string, string>> = {
  info: "info SCOPE/NAME [-o json]\n\nshows role, lag, databases, users, links, backups",
  psql: "psql SCOPE/NAME [-d DATABASE] [-U USER] [--replica N] [-c SQL] [-- ARGUMENT…]\n\nopens a session as superuser, or runs one statement with -c",
  query:
    "query SCOPE/NAME -c SQL [-d DATABASE] [--replica N] [--limit N] [-o json]\n\nshows the rows of one statement, as a role that can only read",
  link: "link SCOPE/NAME SCOPE/APP [--reads] [--database D] [--user U] [--as KEY]\n\nputs DATABASE_URL into the config of an app",
  unlink: "unlink SCOPE/NAME SCOPE/APP [--as KEY]\n\ntakes the URL away again",
  "new-password": "new-password SCOPE/NAME [--user U]\n\nmakes a new password, and new URLs for the linked apps",
  backup: "backup SCOPE/NAME [--keep N] [--no-check]\n\ntakes a backup now, and tests it by a restore",
  backups: "backups SCOPE/NAME [-o json]\n\nlists the backups there are, newest first",
  "backups:delete": "backups:delete SCOPE/NAME BACKUP\n\nremoves a backup",
  "backups:logs":
    "backups:logs SCOPE/NAME [RUN] [--limit N]\n\nshows what the newest backups, restores and imports said",
  "backups:cancel": "backups:cancel SCOPE/NAME\n\nends the backups that are being taken",
  "backups:prune":
    "backups:prune SCOPE/NAME [--keep N] [--max-age 30d] [--dry-run]\n\nremoves backups beyond a count or an age, and never the newest",
  "backups:import":
    "backups:import SCOPE/NAME FILE|URL [--database D]\n\nmakes a backup of a dump of pg_dump -Fc from a file of the server's machine or a URL",
  expose:
    "expose SCOPE/NAME [--port N] [--address A]\n\nlets a port of the machine lead to the server, from other machines too",
  unexpose: "unexpose SCOPE/NAME\n\ntakes that port away again",
  "get-conf": "get-conf SCOPE/NAME [--replica N]\n\nprints the settings that the server runs with",
  "backups:download": "backups:download SCOPE/NAME BACKUP [--database D] [--to FILE]\n\nfetches a dump for pg_restore",
  promote: "promote SCOPE/NAME [--replica N] [--force] [--no-rejoin]\n\nmakes another pod primary",
  attend:
    "attend SCOPE/NAME\n\nfinishes what was cut off, and fails over where a block asks for it; the server calls it",
  rejoin: "rejoin SCOPE/NAME --replica N\n\nbrings a stopped pod back as a standby of the primary",
  restore:
    "restore SCOPE/NAME BACKUP [--database D] (--into NEW | --replace)\n\nrestores a database of a backup, checked against the rows it had",
};
