import { loopbackHosts, noProxyFor } from "../../../base/pure/proxy-choice.ts";
import { protocolVersion } from "../../api/plugins/plugin-yml.ts";
import { makerOf } from "../../core/plugins/maker.ts";
import { grantedVariables, hiding } from "../../core/plugins/own-environment.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import type { Context } from "../state/context.ts";

/** What this plugin alone is given, and no record may show. */
function ownEnvironment({ store, plugins, names }: Context, plugin: Plugin): Record<string, string> {
  return {
    ...plugins.serverVariables(grantedVariables(plugin.permissions, names.envPrefix)),
    ...store.pluginConfig.of(makerOf(plugin)),
  };
}

/** Hides the values that this plugin alone is given. */
export function hiddenFor(context: Context, plugin: Plugin): (text: string) => string {
  return hiding(Object.values(ownEnvironment(context, plugin)), context.limits.pluginHiddenFrom);
}

/** Where the run reaches the controller, and, until it ends, containers that it starts itself. */
export function doors({ plugins, names: { envPrefix } }: Context, token: string, url: string | undefined) {
  const callbacks = plugins.callbacks.url();
  return {
    ...(url === undefined ? {} : { [`${envPrefix}_CONTROLLER_URL`]: url }),
    ...(callbacks === undefined
      ? {}
      : { [`${envPrefix}_CALLBACK_URL`]: callbacks, [`${envPrefix}_CALLBACK_TOKEN`]: token }),
  };
}

/** Containers are reached without the proxy of the environment. An engine that is away has none to be reached. */
async function withContainers({ engine, names }: Context, environment: Readonly<Record<string, string>>) {
  // A proxy that the operator set for this plugin alone is none of the server, which has excepted nothing from it.
  const isBehindProxy = Object.keys(noProxyFor(environment, [])).length > 0;
  const subnets = isBehindProxy ? await engine.networkSubnets(names.network).catch(() => []) : [];
  return { ...environment, ...noProxyFor(environment, [...loopbackHosts, ...subnets]) };
}

/** The allow-list, then plugin.yml, then what this plugin alone is given, then what the protocol promises. */
export async function pluginEnvironment(context: Context, plugin: Plugin): Promise<Record<string, string>> {
  const { plugins, names, layout } = context;
  const prefix = names.envPrefix;
  const own = ownEnvironment(context, plugin);
  return {
    ...(await withContainers(context, { ...plugins.environment, ...own })),
    ...(plugin.permissions.docker ? { DOCKER_HOST: plugins.dockerHost } : {}),
    ...plugin.yml.env,
    ...own,
    [`${prefix}_PLUGIN_DIR`]: plugin.folder,
    [`${prefix}_ROOT`]: layout.root,
    [`${prefix}_PLUGINS_ROOT`]: layout.plugins,
    [`${prefix}_NODE`]: node,
    [`${prefix}_PROTOCOL`]: String(protocolVersion),
  };
}

/** Until there are more machines. */
export const node = "local";
