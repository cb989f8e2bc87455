import { theServer } from "../access/principal.ts";
import { Failure } from "../base/wire/failure.ts";
import type { RoutingPlugins } from "../ingress/service/plugin-routes.ts";
import type { Controller } from "../orchestration/controller/controller.ts";
import { routingFault } from "../orchestration/core/plugins/ingress-plugin.ts";
import type { Registry } from "../orchestration/plugins/plugin.ts";

/** What routes the ingresses that name a plugin. */
export function routingPlugins(
  registry: Pick<Registry, "refresh" | "find">,
  controller: Pick<Controller, "execPlugin">,
): RoutingPlugins {
  return {
    refresh: registry.refresh,
    faultOf: (name) => routingFault(name, registry.find(name)),
    run: pluginRunner(controller),
  };
}

/** Calls a plugin for an ingress: everything that it needs is in its environment, and its actions do not count. */
function pluginRunner(controller: Pick<Controller, "execPlugin">): RoutingPlugins["run"] {
  return async ({ plugin, command, app, env }) => {
    const { body } = await controller.execPlugin(
      { args: [plugin, command, app], env },
      { actor: "ingress", by: theServer },
    );
    const { status, error, data } = Object(body);
    if (status === "error") {
      const text = typeof error === "string" && error !== "" ? error : "it gave no reason";
      throw new Failure("invalid", `plugin "${plugin}" ${command}: ${text}`);
    }
    return typeof data === "object" && data !== null ? data : {};
  };
}
