import { listLocks, lock, unlock } from "../api/locks.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountLocks(plane: Plane, controller: Controller): void {
  mount(plane, lock, ({ query, actor }) => controller.lock(query, { actor }));
  mount(plane, unlock, ({ query, actor }) => controller.unlock(query, { actor }));
  mount(plane, listLocks, ({ query }) => controller.listLocks(query));
}
