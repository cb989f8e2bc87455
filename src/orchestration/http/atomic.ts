import { getAtomicApply } from "../api/atomic.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountAtomic(plane: Plane, controller: Controller): void {
  mount(plane, getAtomicApply, ({ params }) => controller.atomicApply(params.id ?? ""));
}
