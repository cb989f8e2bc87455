import { sees, unseen } from "../../access/apps.ts";
import { getAtomicApply } from "../api/atomic.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountAtomic(plane: Plane, controller: Controller): void {
  mount(plane, getAtomicApply, ({ params, by }) => {
    const found = controller.atomicApply(params.id ?? "");
    const hidden = found.resources.find(({ ref }) => !sees(by, placeOf(ref)));
    if (hidden === undefined) return found;
    throw unseen(hidden.ref);
  });
}

/** The place in a `kind/scope/name`, or in a `kind/name`. */
function placeOf(ref: string): { scope: string; name: string } {
  const [, scope = "", name] = ref.split("/");
  return name === undefined ? { scope: "", name: scope } : { scope, name };
}
