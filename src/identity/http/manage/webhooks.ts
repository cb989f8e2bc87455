import {
  createIdentityWebhook,
  deleteIdentityWebhook,
  listIdentityDeliveries,
  listIdentityWebhooks,
  updateIdentityWebhook,
} from "../../api/manage/webhooks.ts";
import type { Management } from "../../service/manage/manage.ts";
import { mount, type Plane } from "../../../base/http/mount.ts";
import { readCount, readParam } from "../../../base/http/request.ts";

const pageDefault = 50;

export function mountIdentityWebhooks(
  plane: Plane,
  { webhooks: hooks }: Management,
  options: { pageMax: number },
): void {
  mount(plane, listIdentityWebhooks, ({ query: { instance } }) => hooks.list(instance));
  mount(plane, createIdentityWebhook, ({ query: { instance }, body, actor }) =>
    hooks.create(instance, body, { actor }),
  );
  mount(plane, updateIdentityWebhook, ({ params, query: { instance }, body, actor }) =>
    hooks.update(instance, { hook: readParam(params, "hook"), body }, { actor }),
  );
  mount(plane, deleteIdentityWebhook, ({ params, query: { instance }, actor }) =>
    hooks.remove(instance, readParam(params, "hook"), { actor }),
  );
  mount(plane, listIdentityDeliveries, ({ params, query: { instance, limit } }) => {
    const count = readCount("limit", limit, options.pageMax) ?? pageDefault;
    return hooks.deliveries(instance, readParam(params, "hook"), count);
  });
}
