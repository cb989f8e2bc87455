import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { PluginPermissions } from "../api/plugins/plugin-yml.ts";
import { sha256Hex } from "../../base/pure/digest.ts";
import { runsAsRoot } from "../core/plugins/conflicts.ts";

/** Runs programs as another user, without any privilege and without a way to get one. */
export interface Confinement {
  /** What this machine does not have of it, for people; empty where all of it holds. */
  readonly lacks: readonly string[];
  /** Like `lacks`, where it is about bundled plugins alone. */
  readonly lacksBundled: readonly string[];
  /** The user that runs of a plugin have; undefined for the server's own. */
  userOf(plugin: { name: string; permissions: PluginPermissions; isBundled: boolean }): number | undefined;
}

interface ConfinementOptions {
  /** Path of `setpriv` of util-linux; null where it is missing. */
  setpriv: string | null;
  /** User of the server. */
  uid: number;
  /** Id of this installation: another one has other users. */
  owner: string;
  /** Folder of all plugins. */
  folder: string;
  /** Files that bundled plugins are run from. */
  programs: readonly string[];
}

/**
 * Users of plugins have no name and no entry anywhere. The range lies beyond those that distributions, systemd and
 * container engines give out (systemd: "Users, Groups, UIDs and GIDs on systemd Systems").
 */
const firstUid = 2_000_000_000;
const uids = 100_000_000;

/** Looks at the machine once, when the folder of all plugins is there. */
export function createConfinement({ setpriv, uid, owner, folder, programs }: ConfinementOptions): Confinement {
  const closed = programs.find((program) => !isOpenToAll(program, 0o004));
  const nobody = "plugins have no users of their own and run as that of the server";
  const whole = [
    ...(uid === 0 ? [] : [`the server is not root: ${nobody}`]),
    ...(setpriv === null ? [`setpriv is missing (install util-linux): ${nobody}`] : []),
    ...(isOpenToAll(folder, 0o001)
      ? []
      : [`other users may not enter "${folder}", or a folder above it (chmod o+x lets them through): ${nobody}`]),
  ];
  const ofBundled = closed === undefined ? [] : [`other users may not read "${closed}": bundled plugins run as root`];
  return {
    lacks: whole,
    lacksBundled: ofBundled,
    userOf({ name, permissions, isBundled }) {
      if (whole.length > 0 || runsAsRoot(permissions) || (isBundled && closed !== undefined)) return undefined;
      return firstUid + (Number.parseInt(sha256Hex(`${owner}/${name}`).slice(0, 12), 16) % uids);
    },
  };
}

/** For those who try plugins without a server: no plugin has a user of its own. */
export const unconfined: Confinement = { lacks: [], lacksBundled: [], userOf: () => undefined };

/** `argv` as that user, with no group, capability or way to more privileges. */
export function asUser(setpriv: string, user: number, argv: readonly string[]): string[] {
  const who = [`--reuid=${user}`, `--regid=${user}`, "--clear-groups"];
  return [setpriv, ...who, "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", "--", ...argv];
}

/** Whether everybody has these bits of it, and gets through all folders above it. */
function isOpenToAll(path: string, bits: number): boolean {
  if (!hasBits(path, bits)) return false;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!hasBits(folder, 0o001)) return false;
    if (folder === dirname(folder)) return true;
  }
}

function hasBits(path: string, bits: number): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & bits) === bits;
}
