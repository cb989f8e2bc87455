import { getOperation, restart } from "../api/restart.ts";
import { readFlag } from "../../base/wire/query.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountRestart(plane: Plane, controller: Controller): void {
  mount(plane, restart, {
    answer: ({ query: { wait, pull, ...target }, actor, by }) =>
      controller.restart(target, {
        wait: readFlag(wait, true),
        pull: readFlag(pull, false),
        actor,
        by,
      }),
    status: ({ operation }) => (operation === undefined ? 200 : 202),
  });
  mount(plane, getOperation, ({ params }) => controller.operation(params.id ?? ""));
}
