import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../base/wire/failure.ts";
import type { PluginYml } from "../api/plugins/plugin-yml.ts";
import { isConf } from "../core/plugins/conf.ts";
import { hashOf } from "./lock.ts";
import type { FileRecord } from "./plugin.ts";
import type { VersionRecord } from "./state.ts";
import type { Work } from "./work.ts";

interface Succession {
  yml: PluginYml;
  /** Folder of the new version; it belongs to `user` already. */
  folder: string;
  id: string;
  user: number | undefined;
  /** The version that is active now. */
  before: VersionRecord;
}

/** What a new version takes over: by path the hash of what its package shipped there. */
type Shipped = Readonly<Record<string, string>>;

/** Ends a copy that hangs. */
const copyMs = 30_000;

/**
 * Configuration files that the operator edited take the place of those in a new version, where it has them. They are
 * copied as the plugin's own user: a plugin could have put a link to another file there.
 */
export async function keepEdits(work: Work, { yml, folder, id, user, before }: Succession): Promise<Shipped> {
  const shipped: Record<string, string> = {};
  const old = join(work.folders.versions, yml.name, before.id);
  for (const [path, { sha256 }] of Object.entries(before.files)) {
    if (!isConf(yml, path) || !(await isFile(join(folder, path))) || !(await isFile(join(old, path)))) continue;
    if ((await hashOf(join(old, path))) === sha256) continue;
    shipped[path] = await hashOf(join(folder, path));
    const { ending, stderr } = await work.host.run({
      id: `${id}-conf-${Object.keys(shipped).length}`,
      argv: ["/bin/cp", "-P", "--", join(old, path), join(folder, path)],
      folder,
      env: work.env,
      user,
      stdin: undefined,
      timeoutMs: copyMs,
    });
    if (ending.how === "exited" && ending.code === 0) continue;
    throw new Failure("invalid", `"${path}" of the version before cannot be taken over: ${stderr.trim()}`);
  }
  return shipped;
}

async function isFile(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isFile() === true;
}

/** Edited ones are locked as they were shipped: that they were edited has to be seen by the next version as well. */
export function lockedAsShipped(files: Record<string, FileRecord>, shipped: Shipped): Record<string, FileRecord> {
  const edited = Object.entries(shipped).flatMap(([path, sha256]) => {
    const record = files[path];
    return record === undefined ? [] : [[path, { ...record, sha256 }] as const];
  });
  return { ...files, ...Object.fromEntries(edited) };
}

/** For the operator. */
export function editNotes(shipped: Shipped): string[] {
  return Object.keys(shipped).map(
    (path) => `${path} was edited and stays as it is: compare it with that of the package`,
  );
}
