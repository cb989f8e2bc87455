/**
 * Every command of restic that berth runs on a repository, by what it does with the locks there.
 *
 * - `look`: takes no lock. It reads single files that stay the same until they are removed as a whole.
 * - `read`: takes a lock, so that no other machine removes data meanwhile. Where a lock stands in its way, such as that of a
 *   machine that burnt down while it removed data, it reads without one. If data vanishes then, the command fails: restic
 *   asks for each piece of data by its digest.
 * - `write`: takes a lock, and waits where it gets none. So does `check`: while another machine removes data, it would report
 *   faults.
 * - `unlock`: removes locks that are left over.
 */
export const resticCommands = {
  cat: "look",
  list: "look",
  snapshots: "look",
  dump: "read",
  ls: "read",
  restore: "read",
  stats: "read",
  backup: "write",
  check: "write",
  forget: "write",
  init: "write",
  prune: "write",
  unlock: "unlock",
} as const;

/** What a command does with locks; one that is not in the table fails. */
export function lockingOf([verb = ""]: readonly string[]): (typeof resticCommands)[keyof typeof resticCommands] {
  const found = Object.entries(resticCommands).find(([name]) => name === verb)?.[1];
  if (found === undefined) throw new Error(`restic ${verb} is not in the table of commands`);
  return found;
}
