import { theServer } from "./access/principal.ts";
import { Failure } from "./base/wire/failure.ts";
import type { RunPlugin } from "./ingress/service/plugin-routes.ts";
import type { Controller } from "./orchestration/controller/controller.ts";

/** Calls a plugin for an ingress: everything that it needs is in its environment, and its actions do not count. */
export function pluginRunner(controller: Pick<Controller, "execPlugin">): RunPlugin {
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
