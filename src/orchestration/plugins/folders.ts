import { chmod, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Where things lie below `<root>/plugins`. Dot names are never plugins. */
export interface PluginFolders {
  plugins: string;
  /** `<name>/<id>/`: installed versions; the active one is what the link `<plugins>/<name>` names. */
  versions: string;
  /** `<name>.json`. */
  state: string;
  /** Packages on their way in. Whatever lies here at a start is left over. */
  staging: string;
}

export function foldersOf(plugins: string): PluginFolders {
  return {
    plugins,
    versions: join(plugins, ".versions"),
    state: join(plugins, ".state"),
    staging: join(plugins, ".staging"),
  };
}

/** Makes them. What a package may hold is for the owner alone until it is active. */
export async function makeFolders({ plugins, versions, state, staging }: PluginFolders): Promise<void> {
  for (const folder of [plugins, versions]) {
    await mkdir(folder, { recursive: true, mode: 0o755 });
    await letThrough(folder);
  }
  for (const folder of [state, staging]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
  }
}

/** Users of plugins get to their own folders, whatever the umask was when those above were made; they list nothing. */
export async function letThrough(folder: string): Promise<void> {
  const { mode } = await stat(folder);
  if ((mode & 0o011) !== 0o011) await chmod(folder, (mode & 0o7777) | 0o011);
}
