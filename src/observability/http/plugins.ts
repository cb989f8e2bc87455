import { readParam } from "../../base/http/request.ts";
import { bodyReader } from "../../base/wire/read-body.ts";
import { askDatabase, commandDatabase, listDatabases, revealDatabase } from "../api/plugins.ts";
import type { PlaneEndpoint } from "../api/plane-endpoint.ts";
import type { BlockAsk } from "../service/plugins/blocks.ts";
import { mount } from "../../base/http/mount.ts";
import type { PlaneCall } from "./mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

const noStore = () => ({ "Cache-Control": "no-store" });

/** What can be done with blocks of plugins, such as databases. */
export function mountDatabases(plane: ObservabilityPlane): void {
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
