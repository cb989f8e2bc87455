import {
  createIdentityInstance,
  deleteIdentityInstance,
  getIdentityInstance,
  identityQuickstart,
  listIdentityInstances,
  updateIdentityInstance,
} from "../../api/manage/instances.ts";
import type { Management } from "../../service/manage/manage.ts";
import { mount, type Plane } from "../../../base/http/mount.ts";
import { readParam } from "../../../base/http/request.ts";

export function mountIdentityInstances(plane: Plane, { instances, quickstart }: Management): void {
  mount(plane, identityQuickstart, ({ body, actor }) => quickstart(body, { actor }));
  mount(plane, listIdentityInstances, ({ query: { app } }) => instances.list(app));
  mount(plane, createIdentityInstance, ({ body, actor }) => instances.create(body, { actor }));
  mount(plane, getIdentityInstance, ({ params }) => instances.get(readParam(params, "instance")));
  mount(plane, updateIdentityInstance, ({ params, body, actor }) =>
    instances.update(readParam(params, "instance"), body, { actor }),
  );
  mount(plane, deleteIdentityInstance, ({ params, actor }) =>
    instances.remove(readParam(params, "instance"), { actor }),
  );
}
