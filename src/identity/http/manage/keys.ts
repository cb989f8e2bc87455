import {
  createIdentityKey,
  deleteIdentityKey,
  listIdentityKeys,
  promoteIdentityKey,
  rotateIdentityKey,
} from "../../api/manage/keys.ts";
import type { Management } from "../../service/manage/manage.ts";
import { mount, type Plane } from "../../../base/http/mount.ts";
import { readParam } from "../../../base/http/request.ts";

export function mountIdentityKeys(plane: Plane, { keys }: Management): void {
  mount(plane, listIdentityKeys, ({ params }) => keys.list(readParam(params, "instance")));
  mount(plane, createIdentityKey, ({ params, actor }) => keys.create(readParam(params, "instance"), { actor }));
  mount(plane, rotateIdentityKey, ({ params, body, actor }) =>
    keys.rotate(readParam(params, "instance"), body, { actor }),
  );
  mount(plane, promoteIdentityKey, ({ params, body, actor }) =>
    keys.promote(readParam(params, "instance"), body, { actor }),
  );
  mount(plane, deleteIdentityKey, ({ params, actor }) =>
    keys.remove(readParam(params, "instance"), readParam(params, "key"), { actor }),
  );
}
