import { readCount, readParam } from "../../base/http/request.ts";
import { bodyReader } from "../../base/wire/read-body.ts";
import {
  acceptPlanePlugin,
  askDatabase,
  commandDatabase,
  disablePlanePlugin,
  enablePlanePlugin,
  installPlanePlugin,
  listDatabases,
  listPlanePluginRuns,
  listPlanePlugins,
  planePluginChanges,
  planePluginConfig,
  removePlanePlugin,
  revealDatabase,
  rollbackPlanePlugin,
  setPlanePluginConfig,
  updatePlanePlugin,
} from "../api/plugins.ts";
import type { PlaneEndpoint } from "../api/plane-endpoint.ts";
import type { BlockAsk } from "../service/plugins/blocks.ts";
import { mount } from "../../base/http/mount.ts";
import type { PlaneCall } from "./mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

const runsAtOnce = 100;
const noStore = () => ({ "Cache-Control": "no-store" });

export function mountPlanePlugins(plane: ObservabilityPlane): void {
  const { plugins } = plane.observability;
  const readInstall = bodyReader(installPlanePlugin);
  const readUpdate = bodyReader(updatePlanePlugin);
  const readAccept = bodyReader(acceptPlanePlugin);
  const readConfig = bodyReader(setPlanePluginConfig);
  const nameOf = ({ params }: Pick<PlaneCall<PlaneEndpoint>, "params">) => readParam(params, "name");
  mount(plane, listPlanePlugins, ({ grant }) => plugins.list(grant));
  mount(plane, listPlanePluginRuns, async ({ grant, query: { plugin, limit } }) => {
    const most = readCount("limit", limit, plane.limits.pluginRunsMax) ?? runsAtOnce;
    return { runs: await plugins.runs(grant, { plugin, limit: most }) };
  });
  mount(plane, installPlanePlugin, (call) => {
    const body = readInstall(call.body);
    plane.connected.keepOpen(call.request);
    return plugins.install(call, body);
  });
  mount(plane, updatePlanePlugin, (call) => {
    const body = readUpdate(call.body);
    plane.connected.keepOpen(call.request);
    return plugins.update(call, { name: nameOf(call), version: call.query.version }, body);
  });
  mount(plane, planePluginChanges, {
    answer: (call) => plugins.changes(call, nameOf(call)),
    headers: noStore,
  });
  mount(plane, acceptPlanePlugin, (call) => plugins.accept(call, nameOf(call), readAccept(call.body)));
  mount(plane, planePluginConfig, (call) => plugins.config(call, nameOf(call)));
  mount(plane, setPlanePluginConfig, (call) => plugins.setConfig(call, nameOf(call), readConfig(call.body)));
  mount(plane, rollbackPlanePlugin, (call) => plugins.rollback(call, nameOf(call)));
  mount(plane, enablePlanePlugin, (call) => plugins.setEnabled(call, nameOf(call), true));
  mount(plane, disablePlanePlugin, (call) => plugins.setEnabled(call, nameOf(call), false));
  mount(plane, removePlanePlugin, (call) => plugins.remove(call, nameOf(call)));
  mountDatabases(plane);
}

function mountDatabases(plane: ObservabilityPlane): void {
  const { blocks } = plane.observability.plugins;
  const readCommand = bodyReader(commandDatabase);
  mount(plane, listDatabases, async ({ grant }) => ({ blocks: await blocks.list(grant) }));
  mount(plane, askDatabase, (call) => {
    const args = call.query.args?.split(/\s+/).filter((word) => word !== "") ?? [];
    plane.connected.keepOpen(call.request);
    return blocks.read(call, { ...askOf(call), args }, call.request.signal);
  });
  mount(plane, commandDatabase, {
    answer: async (call) => {
      const { args = [] } = readCommand(call.body);
      return { operation: await blocks.change(call, { ...askOf(call), args, confirm: call.query.confirm }) };
    },
    status: () => 202,
  });
  mount(plane, revealDatabase, {
    answer: (call) => {
      const { args = [] } = readCommand(call.body);
      plane.connected.keepOpen(call.request);
      return blocks.reveal(call, { ...askOf(call), args, confirm: call.query.confirm }, call.request.signal);
    },
    headers: noStore,
  });
}

function askOf({ params }: Pick<PlaneCall<PlaneEndpoint>, "params">): Pick<BlockAsk, "target" | "command"> {
  const [kind, scope, name] = [readParam(params, "kind"), readParam(params, "scope"), readParam(params, "name")];
  return { target: { kind, scope, name }, command: readParam(params, "command") };
}
