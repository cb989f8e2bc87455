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
