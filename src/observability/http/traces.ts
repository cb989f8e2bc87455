import { readParam } from "../../base/http/request.ts";
import { getTrace, listTraces, tracesState } from "../api/traces.ts";
import type { TracesRoom } from "../service/traces/create.ts";
import type { MountRoom } from "./both-planes.ts";

export function mountTraces(mount: MountRoom, traces: TracesRoom): void {
  mount(listTraces, ({ query, reach }) => traces.list({ apps: reach }, query));
  mount(tracesState, ({ requireAllApps }) => {
    requireAllApps();
    return traces.state();
  });
  mount(getTrace, ({ params, reach }) => traces.get({ apps: reach }, readParam(params, "id")));
}
