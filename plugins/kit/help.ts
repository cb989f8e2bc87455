/** What `-h` says of the commands that all servers have: how one is written, and what it does. */
export const serverHelp: Readonly<Record<string, string>> = {
  unlink: "unlink SCOPE/NAME SCOPE/APP [--as KEY]\n\ntakes the URL away again",
  "new-password": "new-password SCOPE/NAME [--user U]\n\nmakes a new password, and new URLs for the linked apps",
  backup: "backup SCOPE/NAME [--keep N] [--no-check]\n\ntakes a backup now, and tests it by a restore",
  backups: "backups SCOPE/NAME [-o json]\n\nlists the backups there are, newest first, and what their checks found",
  "backups:check":
    "backups:check SCOPE/NAME BACKUP\n\nrestores a backup once to see that it can be, and keeps what came of that",
  "backups:delete": "backups:delete SCOPE/NAME BACKUP\n\nremoves a backup",
  "backups:logs":
    "backups:logs SCOPE/NAME [RUN] [--limit N]\n\nshows what the newest backups, restores and imports said",
  "backups:cancel": "backups:cancel SCOPE/NAME\n\nends the backups that are being taken",
  "backups:prune":
    "backups:prune SCOPE/NAME [--keep N] [--max-age 30d] [--dry-run]\n\nremoves backups beyond a count or an age, and never the newest good one",
  expose:
    "expose SCOPE/NAME [--port N] [--address A]\n\nlets a port of the machine lead to the server, from other machines too",
  unexpose: "unexpose SCOPE/NAME\n\ntakes that port away again",
  "get-conf": "get-conf SCOPE/NAME [--replica N]\n\nprints the settings that the server runs with",
  attend:
    "attend SCOPE/NAME\n\nfinishes what was cut off, and fails over where a block asks for it; the server calls it",
  rejoin: "rejoin SCOPE/NAME --replica N\n\nbrings a stopped pod back as a standby of the primary",
};
