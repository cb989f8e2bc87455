import { createIdentityApp, deleteIdentityApp, listIdentityApps } from "../../api/orchestration/identity-apps.ts";
import type { Management } from "../../identity/manage/manage.ts";
import { mount, type Plane } from "./mount.ts";
import { readParam } from "./request.ts";

export function mountIdentityApps(plane: Plane, { apps }: Management): void {
  mount(plane, listIdentityApps, { answer: () => apps.list() });
  mount(plane, createIdentityApp, { answer: ({ body, actor }) => apps.create(body, { actor }) });
  mount(plane, deleteIdentityApp, {
    answer: ({ params, actor }) => apps.remove(readParam(params, "app"), { actor }),
  });
}
