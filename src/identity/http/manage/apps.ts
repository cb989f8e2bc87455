import { createIdentityApp, deleteIdentityApp, listIdentityApps } from "../../api/manage/apps.ts";
import type { Management } from "../../service/manage/manage.ts";
import { mount, type Plane } from "../../../base/http/mount.ts";
import { readParam } from "../../../base/http/request.ts";

export function mountIdentityApps(plane: Plane, { apps }: Management): void {
  mount(plane, listIdentityApps, () => apps.list());
  mount(plane, createIdentityApp, ({ body, actor }) => apps.create(body, { actor }));
  mount(plane, deleteIdentityApp, ({ params, actor }) => apps.remove(readParam(params, "app"), { actor }));
}
