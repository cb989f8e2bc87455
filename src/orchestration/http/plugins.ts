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
import { mountProgress } from "./progress.ts";

export function mountPlugins(plane: Plane, controller: Controller): void {
  mount(plane, listPlugins, () => controller.listPlugins());
  mount(plane, getPlugin, ({ params }) => controller.getPlugin(params.name ?? ""));
  mount(plane, getPluginSchema, ({ params, query }) =>
    controller.pluginSchema({ name: params.name ?? "", kind: query.kind }),
  );
  mountProgress(plane, installPlugin, async ({ actor, by, readBody }) => {
    const body = await readBody();
    return (audience) => controller.installPlugin(body, { actor, by, ...audience });
  });
  mount(plane, removePlugin, ({ params, actor, by }) => controller.removePlugin(params.name ?? "", { actor, by }));
  mountProgress(plane, updatePlugin, async ({ params, query, actor, by, readBody }) => {
    const target = { name: params.name ?? "", version: query.version, body: await readBody("optional") };
    return (audience) => controller.updatePlugin(target, { actor, by, ...audience });
  });
  mount(plane, pluginChanges, ({ params, by }) => controller.pluginChanges(params.name ?? "", { by }));
  mount(plane, acceptPlugin, ({ params, body, actor, by }) =>
    controller.acceptPlugin({ name: params.name ?? "", body }, { actor, by }),
  );
  mount(plane, getPluginConfig, ({ params, by }) => controller.getPluginConfig(params.name ?? "", { by }));
  mount(plane, setPluginConfig, ({ params, body, actor, by }) =>
    controller.setPluginConfig({ name: params.name ?? "", body }, { actor, by }),
  );
  mount(plane, rollbackPlugin, ({ params, actor, by }) => controller.rollbackPlugin(params.name ?? "", { actor, by }));
  for (const [endpoint, enabled] of [
    [enablePlugin, true],
    [disablePlugin, false],
  ] as const) {
    mount(plane, endpoint, ({ params, actor, by }) =>
      controller.setPluginEnabled({ name: params.name ?? "", enabled }, { actor, by }),
    );
  }
}
