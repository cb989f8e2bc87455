import { CommandFailure } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";
import { didYouMean } from "../basics/suggest.ts";

interface Known {
  /** What the name is of: `token`. */
  what: string;
  /** The names that there are. */
  names: readonly string[];
  /** The command that lists them. */
  see: string;
}

/**
 * Fails for a name that is not in a list, with the nearest one that is. A command that asks calls it first, so
 * that an operator never confirms something that does not exist.
 */
export function requireKnown(name: string, { what, names, see }: Known): void {
  if (names.includes(name)) return;
  throw new CommandFailure(printable(`no ${what} "${name}"${didYouMean(name, names) || `; see: ${see}`}`));
}
