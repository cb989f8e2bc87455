import { lstatSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { Failure } from "../../base/wire/failure.ts";

interface PrefixLink {
  /** Makes it where it is not there. */
  make(): void;
  /** Removes it where it leads to this executable. */
  remove(): void;
  path: string;
}

/**
 * The link beside the executable under which the contract's own client calls it over ssh. Fails `conflict` where another
 * program has that name, and `invalid` where the name is the executable's own; `remove` alone never fails.
 */
export function prefixLink(executable: string, prefix: string): PrefixLink {
  const path = join(dirname(executable), prefix);
  const there = () => lstatSync(path, { throwIfNoEntry: false });
  const isOurs = () => there()?.isSymbolicLink() === true && resolve(dirname(path), readlinkSync(path)) === executable;
  return {
    path,
    make() {
      if (prefix === basename(executable))
        throw new Failure(
          "invalid",
          `--prefix-link: the prefix is "${prefix}", which is the program itself: add --prefix`,
        );
      if (isOurs()) return;
      if (there() !== undefined)
        throw new Failure("conflict", `--prefix-link: ${path} is another program: move it away first`);
      symlinkSync(executable, path);
    },
    remove() {
      if (isOurs()) rmSync(path);
    },
  };
}
