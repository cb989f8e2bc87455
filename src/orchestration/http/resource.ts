import { listLeftovers } from "../api/leftovers.ts";
import { deleteResource, deleteScope } from "../api/resource.ts";
import { listUses } from "../api/uses.ts";
import { readFlag } from "../../base/wire/query.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountResource(plane: Plane, controller: Controller): void {
  mount(plane, deleteResource, ({ query: { scope, name, ordinal, prune }, actor }) =>
    controller.deleteResource({ scope, name, ordinal }, { prune: readFlag(prune, false), actor }),
  );
  mount(plane, deleteScope, ({ query: { scope, prune }, actor }) =>
    controller.deleteScope(scope, { prune: readFlag(prune, false), actor }),
  );
  mount(plane, listUses, ({ query }) => controller.listUses(query));
  mount(plane, listLeftovers, ({ query }) => controller.listLeftovers(query));
}
