import { deepFreeze } from "../../../base/pure/deep-freeze.ts";
import type { CoreKind, Spec } from "../../api/manifest.ts";
import { routingFault, soleRouter } from "../../core/plugins/ingress-plugin.ts";
import type { Context } from "./context.ts";

/** The plugin that takes ingresses which name none; undefined: the server routes them itself. */
export function defaultRouter({ plugins, routing }: Pick<Context, "plugins" | "routing">): string | undefined {
  if (routing === undefined) return undefined;
  if (routing.plugin !== "") return routing.plugin;
  return routing.isOwnOff ? soleRouter(plugins.registry.list().plugins) : undefined;
}

/** A manifest on its way in, with that plugin where it is an ingress that names none. HAProxy alone serves TCP ports. */
export function routedSpec(context: Pick<Context, "plugins" | "routing">, kind: CoreKind, spec: Spec): Spec {
  if (kind !== "ingress" || spec.plugin !== undefined || spec.tcp !== undefined) return spec;
  const plugin = defaultRouter(context);
  return plugin === undefined ? spec : deepFreeze({ ...spec, plugin });
}

/** Why the plugin of an ingress cannot route it, as of the last look at the plugins. */
export function routerFault({ plugins }: Pick<Context, "plugins">, plugin: string): string | undefined {
  return routingFault(plugin, plugins.registry.find(plugin));
}
