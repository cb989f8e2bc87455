import { chmod, mkdir } from "node:fs/promises";
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
  await mkdir(plugins, { recursive: true, mode: 0o755 });
  await mkdir(versions, { recursive: true, mode: 0o755 });
  for (const folder of [state, staging]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
  }
}
