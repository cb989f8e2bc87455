import { statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { CommandFailure } from "../basics/failures.ts";

interface User {
  uid: number | undefined;
  gid: number | undefined;
}

/** Names the file of the client that cannot be read, who owns it, and the command that helps. */
export function unreadable(file: string, code: string | undefined, { uid, gid }: User): CommandFailure {
  if (code !== "EACCES" && code !== "EPERM") return new CommandFailure(`cannot read ${file}: ${code}`);
  const place = closedPlace(file);
  const owner = statSync(place).uid;
  const whose = owner === uid ? "this user, without the permission to read it" : owner === 0 ? "root" : `user ${owner}`;
  const belongs = `cannot read ${file}: ${place === file ? "it" : place} belongs to ${whose}`;
  // Another folder may be the home of somebody else: it is not ours to be given away.
  if (place !== file && basename(place) !== "berth") {
    return new CommandFailure(`${belongs}; check HOME and XDG_CONFIG_HOME: they lead to the folder of another user`);
  }
  const way = owner === uid ? "chmod -R u+rwX" : `sudo chown -R ${uid}:${gid}`;
  return new CommandFailure(`${belongs}; to make it readable: ${way} ${shellWord(place)}`);
}

/** The folder on the way that does not let this user through; the file itself where none keeps it out. */
function closedPlace(path: string): string {
  try {
    statSync(path);
    return path;
  } catch {
    const parent = dirname(path);
    return parent === path ? path : closedPlace(parent);
  }
}

function shellWord(path: string): string {
  return /^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
