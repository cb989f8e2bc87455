import { listEvents } from "../api/events.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { readCount } from "../../base/http/request.ts";

const eventsPageDefault = 100;

export function mountEvents(plane: Plane, controller: Controller, options: { pageMax: number }): void {
  mount(plane, listEvents, ({ query: { after, limit, ...filter } }) => {
    const from = readCount("after", after, Number.MAX_SAFE_INTEGER);
    const count = readCount("limit", limit, options.pageMax) ?? eventsPageDefault;
    return controller.events({ ...filter, ...(from === undefined ? {} : { after: from }), limit: count });
  });
}
