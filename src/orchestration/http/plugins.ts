import {
  acceptPlugin,
  disablePlugin,
  enablePlugin,
  getPlugin,
  getPluginSchema,
  installPlugin,
  listPlugins,
  pluginChanges,
  removePlugin,
  rollbackPlugin,
  updatePlugin,
} from "../api/plugins.ts";
import { getPluginConfig, setPluginConfig } from "../api/plugin-config.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { principalOf } from "./principals.ts";
import { mountProgress } from "./progress.ts";
import { readBody, readOptionalBody } from "../../base/http/request.ts";

export function mountPlugins(plane: Plane, controller: Controller): void {
  const depth = { depthMax: plane.jsonDepthMax };
  mount(plane, listPlugins, () => controller.listPlugins());
  mount(plane, getPlugin, ({ params }) => controller.getPlugin(params.name ?? ""));
  mount(plane, getPluginSchema, ({ params, query }) =>
    controller.pluginSchema({ name: params.name ?? "", kind: query.kind }),
  );
  mountProgress(plane, installPlugin, async ({ actor }, request) => {
    const body = await readBody(request, depth);
    return (audience) => controller.installPlugin(body, { actor, by: principalOf(request), ...audience });
  });
  mount(plane, removePlugin, ({ params, actor, request }) =>
    controller.removePlugin(params.name ?? "", { actor, by: principalOf(request) }),
  );
  mountProgress(plane, updatePlugin, async ({ params, query, actor }, request) => {
    const target = { name: params.name ?? "", version: query.version, body: await readOptionalBody(request, depth) };
    return (audience) => controller.updatePlugin(target, { actor, by: principalOf(request), ...audience });
  });
  mount(plane, pluginChanges, ({ params, request }) =>
    controller.pluginChanges(params.name ?? "", { by: principalOf(request) }),
  );
  mount(plane, acceptPlugin, ({ params, body, actor, request }) =>
    controller.acceptPlugin({ name: params.name ?? "", body }, { actor, by: principalOf(request) }),
  );
  mount(plane, getPluginConfig, ({ params, request }) =>
    controller.getPluginConfig(params.name ?? "", { by: principalOf(request) }),
  );
  mount(plane, setPluginConfig, ({ params, body, actor, request }) =>
    controller.setPluginConfig({ name: params.name ?? "", body }, { actor, by: principalOf(request) }),
  );
  mount(plane, rollbackPlugin, ({ params, actor, request }) =>
    controller.rollbackPlugin(params.name ?? "", { actor, by: principalOf(request) }),
  );
  for (const [endpoint, enabled] of [
    [enablePlugin, true],
    [disablePlugin, false],
  ] as const) {
    mount(plane, endpoint, ({ params, actor, request }) =>
      controller.setPluginEnabled({ name: params.name ?? "", enabled }, { actor, by: principalOf(request) }),
    );
  }
}
