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
    ...Object.fromEntries(passed),
    ...noProxyFor(env, loopbackHosts),
  };
}

export function proxiesOf(env: Environment): ProxyVariables {
  return Object.fromEntries(Object.entries(env).filter(([name]) => isOfProxy(name)));
}
