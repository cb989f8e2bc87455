import { listDeliveries } from "../api/webhooks.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { readCount } from "../../base/http/request.ts";

const deliveriesPageDefault = 50;

export function mountWebhooks(plane: Plane, controller: Controller, options: { pageMax: number }): void {
  mount(plane, listDeliveries, ({ query: { limit, ...target } }) => {
    const count = readCount("limit", limit, options.pageMax) ?? deliveriesPageDefault;
    return controller.deliveries({ ...target, limit: count });
  });
}
