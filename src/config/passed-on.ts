import { own } from "../base/pure/fields.ts";
import { loopbackHosts, noProxyFor, type ProxyVariables } from "../base/pure/proxy-choice.ts";
import type { Environment } from "./environment.ts";

const pluginVariables = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"];
const proxyNames = ["http_proxy", "https_proxy", "no_proxy", "all_proxy"];
const isOfProxy = (name: string) => proxyNames.includes(name.toLowerCase());

export function passedToPlugins(env: Environment): Record<string, string> {
  const isPassed = (name: string) => pluginVariables.includes(name) || name.startsWith("LC_") || isOfProxy(name);
  const passed = Object.entries(env).filter(
    (entry): entry is [string, string] => isPassed(entry[0]) && (entry[1] ?? "") !== "",
  );
  return {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ...Object.fromEntries(passed.map(([name, value]) => [name, isProxy(name) ? withoutUser(value) : value])),
    ...noProxyFor(env, loopbackHosts),
  };
}

const isProxy = (name: string) => isOfProxy(name) && name.toLowerCase() !== "no_proxy";

/** A password of the site's proxy is for plugins that list the variable in `server_env`. */
function withoutUser(proxy: string): string {
  return proxy.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, "$1");
}

/** Variables by name, where they are set and not empty. */
export function variablesOf(env: Environment, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = own(env, name);
      return value === undefined || value === "" ? [] : [[name, value] as const];
    }),
  );
}

export function proxiesOf(env: Environment): ProxyVariables {
  return Object.fromEntries(Object.entries(env).filter(([name]) => isOfProxy(name)));
}
