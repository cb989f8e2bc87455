import {
  disablePlugin,
  enablePlugin,
  getPlugin,
  getPluginSchema,
  installPlugin,
  listPlugins,
  removePlugin,
  rollbackPlugin,
  updatePlugin,
} from "../../api/orchestration/plugins.ts";
import type { Controller } from "../../controller/controller.ts";
import { mount, type Plane } from "./mount.ts";

export function mountPlugins(plane: Plane, controller: Controller): void {
  mount(plane, listPlugins, { answer: () => controller.listPlugins() });
  mount(plane, getPlugin, { answer: ({ params }) => controller.getPlugin(params.name ?? "") });
  mount(plane, getPluginSchema, {
    answer: ({ params, query }) => controller.pluginSchema({ name: params.name ?? "", kind: query.kind }),
  });
  mount(plane, installPlugin, { answer: ({ body, actor }) => controller.installPlugin(body, { actor }) });
  mount(plane, removePlugin, { answer: ({ params, actor }) => controller.removePlugin(params.name ?? "", { actor }) });
  mount(plane, updatePlugin, {
    answer: ({ params, query, actor }) =>
      controller.updatePlugin({ name: params.name ?? "", version: query.version }, { actor }),
  });
  mount(plane, rollbackPlugin, {
    answer: ({ params, actor }) => controller.rollbackPlugin(params.name ?? "", { actor }),
  });
  for (const [endpoint, enabled] of [
    [enablePlugin, true],
    [disablePlugin, false],
  ] as const) {
    mount(plane, endpoint, {
      answer: ({ params, actor }) => controller.setPluginEnabled({ name: params.name ?? "", enabled }, { actor }),
    });
  }
}
