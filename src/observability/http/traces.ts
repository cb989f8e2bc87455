import { requireAllApps, sightOf } from "../../access/apps.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { readParam } from "../../base/http/request.ts";
import { getTrace, listTraces, tracesState } from "../api/traces.ts";
import type { TracesRoom } from "../service/traces/create.ts";

export function mountTraces(plane: Plane, traces: TracesRoom): void {
  mount(plane, listTraces, ({ query, by }) => traces.list(sightOf(by), query));
  mount(plane, tracesState, ({ by }) => {
    requireAllApps(by);
    return traces.state();
  });
  mount(plane, getTrace, ({ params, by }) => traces.get(sightOf(by), readParam(params, "id")));
}
