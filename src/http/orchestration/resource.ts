import { listLeftovers } from "../../api/orchestration/leftovers.ts";
import { deleteResource, deleteScope } from "../../api/orchestration/resource.ts";
import { listUses } from "../../api/orchestration/uses.ts";
import { readFlag } from "../../api/query.ts";
import type { Controller } from "../../controller/controller.ts";
import { mount, type Plane } from "./mount.ts";

export function mountResource(plane: Plane, controller: Controller): void {
  mount(plane, deleteResource, {
    answer: ({ query: { scope, name, ordinal, prune }, actor }) =>
      controller.deleteResource({ scope, name, ordinal }, { prune: readFlag(prune, false), actor }),
  });
  mount(plane, deleteScope, {
    answer: ({ query: { scope, prune }, actor }) =>
      controller.deleteScope(scope, { prune: readFlag(prune, false), actor }),
  });
  mount(plane, listUses, { answer: ({ query }) => controller.listUses(query) });
  mount(plane, listLeftovers, { answer: ({ query }) => controller.listLeftovers(query) });
}
