import { getOperation, restart } from "../api/restart.ts";
import { readFlag } from "../../base/wire/query.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountRestart(plane: Plane, controller: Controller): void {
  mount(plane, restart, {
    answer: ({ query: { wait, pull, no_backup, ...target }, actor, by, left }) =>
      controller.restart(target, {
        wait: readFlag(wait, true),
        pull: readFlag(pull, false),
        ...(readFlag(no_backup, false) ? { noBackup: true } : {}),
        left,
        actor,
        by,
      }),
    status: ({ operation }) => (operation === undefined ? 200 : 202),
  });
  mount(plane, getOperation, ({ params }) => controller.operation(params.id ?? ""));
}
