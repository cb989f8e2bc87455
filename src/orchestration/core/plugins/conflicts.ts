import type { PluginPermissions, PluginYml } from "../../api/plugins/plugin-yml.ts";

/** As far as names go. */
interface NamedPlugin {
  yml: Pick<PluginYml, "name" | "aliases" | "kinds">;
  origin: "folder" | "installed" | "linked" | "bundled";
}

/**
 * Why a plugin cannot come in beside these: a word that another one answers to, or the place of a bundled one without
 * `replace`. Undefined when it can. One of the same name is the one that it takes the place of.
 */
export function nameConflict(
  incoming: NamedPlugin["yml"],
  present: readonly NamedPlugin[],
  options: { replace: boolean },
): string | undefined {
  const same = present.find(({ yml }) => yml.name === incoming.name);
  if (same?.origin === "bundled" && !options.replace) {
    return `"${incoming.name}" is part of the server; install it with --replace ("replace": true in a request) to use this one in its place`;
  }
  if (same?.origin === "folder" && !options.replace) {
    return `"${incoming.name}" was put there by hand; install it with --replace ("replace": true in a request), or remove the folder first`;
  }
  const words = wordsOf(incoming);
  for (const { yml } of present) {
    if (yml.name === incoming.name) continue;
    const taken = wordsOf(yml).find((word) => words.includes(word));
    if (taken !== undefined) return `"${taken}" is taken by the plugin "${yml.name}"; remove that one first`;
  }
  return undefined;
}

function wordsOf({ name, aliases, kinds }: NamedPlugin["yml"]): string[] {
  return [name, ...aliases, ...kinds];
}

interface Grant {
  actions: readonly string[];
  scopes: readonly string[];
  docker: boolean;
  root?: boolean;
  server_env?: readonly string[];
  backup?: boolean;
}

/**
 * What a version asks for beyond what was granted before: action types, scopes, `docker`, `root`, `backup`, variables of
 * the server. Empty when nothing.
 */
export function widened(granted: Grant, wanted: Grant): string[] {
  const scopes = granted.scopes.includes("*") ? [] : wanted.scopes.filter((scope) => !granted.scopes.includes(scope));
  const actions = wanted.actions.filter((type) => !granted.actions.includes(type));
  const docker = wanted.docker && !granted.docker ? ["docker"] : [];
  const root = runsAsRoot(wanted) && !runsAsRoot(granted) && docker.length === 0 ? ["root"] : [];
  const backup = wanted.backup === true && granted.backup !== true ? ["backup"] : [];
  const had = granted.server_env ?? [];
  const variables = (wanted.server_env ?? []).filter((name) => !had.includes(name));
  return [
    ...actions,
    ...scopes.map((scope) => `scope ${scope}`),
    ...docker,
    ...root,
    ...backup,
    ...variables.map((name) => `${name} of the server's environment`),
  ];
}

/** A program that reaches the engine can become root. A grant of before there was `root` does not say it, and goes on as it was. */
export function runsAsRoot({ root, docker }: Pick<Grant, "docker" | "root">): boolean {
  return docker || root !== false;
}

/** What either of two grants allows. */
export function together(one: PluginPermissions, other: PluginPermissions): PluginPermissions {
  return {
    actions: [...new Set([...one.actions, ...other.actions])],
    scopes: [...new Set([...one.scopes, ...other.scopes])],
    docker: one.docker || other.docker,
    root: one.root !== false || other.root !== false,
    ...(one.backup === true || other.backup === true ? { backup: true } : {}),
    ...(one.server_env === undefined && other.server_env === undefined
      ? {}
      : { server_env: [...new Set([...(one.server_env ?? []), ...(other.server_env ?? [])])] }),
  };
}
