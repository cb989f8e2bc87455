import { reachesAll, requireAllApps, isFromAfar, sightOf } from "../../access/apps.ts";
import { ownsMachine, type Principal } from "../../access/principal.ts";
import { isFields } from "../../base/pure/fields.ts";
import { type Call, mount, type Plane } from "../../base/http/mount.ts";
import type { DataOf, Endpoint } from "../../base/wire/endpoint.ts";
import { Failure } from "../../base/wire/failure.ts";
import {
  acceptPlugin,
  disablePlugin,
  enablePlugin,
  getPlugin,
  getPluginSchema,
  installPlugin,
  listPlugins,
  pluginChanges,
  type PluginInfo,
  removePlugin,
  rollbackPlugin,
  updatePlugin,
} from "../api/plugins.ts";
import { getPluginConfig, setPluginConfig } from "../api/plugin-config.ts";
import type { Controller } from "../controller/controller.ts";
import { mountProgress } from "./progress.ts";

export function mountPlugins(plane: Plane, controller: Controller): void {
  mount(plane, listPlugins, async ({ by }) => {
    const { plugins, errors } = await controller.listPlugins();
    // Variables of a plugin and where it came from are for those who see the whole server.
    return reachesAll(sightOf(by)) ? { plugins, errors } : { plugins: plugins.map(outline), errors: [] };
  });
  mount(plane, getPlugin, ({ params }) => controller.getPlugin(params.name ?? ""));
  mount(plane, getPluginSchema, ({ params, query }) =>
    controller.pluginSchema({ name: params.name ?? "", kind: query.kind }),
  );
  mountProgress(plane, installPlugin, async ({ actor, by, readBody }) => {
    requireServer(by);
    const body = await readBody();
    requireSeen(by, body);
    return (audience) => controller.installPlugin(body, { actor, by, ...audience });
  });
  mountProgress(plane, updatePlugin, async ({ params, query, actor, by, readBody }) => {
    requireServer(by);
    const target = { name: params.name ?? "", version: query.version, body: await readBody("optional") };
    requireSeen(by, target.body);
    return (audience) => controller.updatePlugin(target, { actor, by, ...audience });
  });
  const onOne = <E extends Endpoint>(
    endpoint: E,
    answer: (name: string, call: Call<E>) => Promise<DataOf<E>>,
    headers?: () => Record<string, string>,
  ) =>
    mount(plane, endpoint, {
      answer: (call) => {
        requireServer(call.by);
        const { name } = call.params as { name?: string | null };
        return answer(name ?? "", call);
      },
      headers,
    });
  onOne(removePlugin, (name, { actor, by }) => controller.removePlugin(name, { actor, by }));
  onOne(
    pluginChanges,
    (name, { by }) => controller.pluginChanges(name, { by }),
    () => ({ "Cache-Control": "no-store" }),
  );
  onOne(acceptPlugin, (name, { body, actor, by }) => controller.acceptPlugin({ name, body }, { actor, by }));
  onOne(getPluginConfig, (name, { by }) => controller.getPluginConfig(name, { by }));
  onOne(setPluginConfig, (name, { body, actor, by }) => controller.setPluginConfig({ name, body }, { actor, by }));
  onOne(rollbackPlugin, (name, { actor, by }) => controller.rollbackPlugin(name, { actor, by }));
  onOne(enablePlugin, (name, { actor, by }) => controller.setPluginEnabled({ name, enabled: true }, { actor, by }));
  onOne(disablePlugin, (name, { actor, by }) => controller.setPluginEnabled({ name, enabled: false }, { actor, by }));
}

function outline({ source: _, commit: __, requested: ___, ...plugin }: PluginInfo): PluginInfo {
  return { ...plugin, env: {} };
}

function requireServer(by: Principal): void {
  requireAllApps(by, "plugins serve the blocks of all");
}

/** With a token nothing is installed that was not looked at, and no folder of the server. Without its rights the controller refuses. */
function requireSeen(by: Principal, body: unknown): void {
  if (!isFromAfar(by) || !ownsMachine(by)) return;
  // An update may come without a body: it says nothing of what was looked at.
  const { source, preview, expect } = isFields(body) ? body : {};
  if (typeof source === "string" && /^(?:[./~]|file:)/i.test(source.trim())) {
    const text = `source: "${source}" is a folder of the server; install it there with berth plugins install`;
    throw new Failure("invalid", text);
  }
  if (preview === true || expect !== undefined) return;
  const text = "expect: ask with preview first, look at the grant, and send the digest of the preview as expect";
  throw new Failure("invalid", text);
}
