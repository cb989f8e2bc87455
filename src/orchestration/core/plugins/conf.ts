import type { PluginYml } from "../../api/plugins/plugin-yml.ts";

/** Where configuration files of a package lie that says nothing of them. */
const conventional: readonly string[] = ["conf"];

/**
 * Whether a file of a package, by its path with `/`, is configuration: the operator may edit it. What is run or decides
 * what is run never is.
 */
export function isConf({ conf = [...conventional], entrypoint }: Pick<PluginYml, "conf" | "entrypoint">, path: string) {
  if (path === entrypoint || !path.includes("/") || /^(?:bin|commands)\//.test(path)) return false;
  return conf.some((one) => path === one || path.startsWith(`${one.replace(/\/$/, "")}/`));
}

/** The files of a package without its configuration. */
export function withoutConf<F>(yml: Pick<PluginYml, "conf" | "entrypoint">, files: Readonly<Record<string, F>>) {
  return Object.fromEntries(Object.entries(files).filter(([path]) => !isConf(yml, path)));
}
