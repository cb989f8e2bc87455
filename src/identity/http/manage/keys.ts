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
  mount(plane, listIdentityKeys, { answer: ({ params }) => keys.list(readParam(params, "instance")) });
  mount(plane, createIdentityKey, {
    answer: ({ params, actor }) => keys.create(readParam(params, "instance"), { actor }),
  });
  mount(plane, rotateIdentityKey, {
    answer: ({ params, body, actor }) => keys.rotate(readParam(params, "instance"), body, { actor }),
  });
  mount(plane, promoteIdentityKey, {
    answer: ({ params, body, actor }) => keys.promote(readParam(params, "instance"), body, { actor }),
  });
  mount(plane, deleteIdentityKey, {
    answer: ({ params, actor }) => keys.remove(readParam(params, "instance"), readParam(params, "key"), { actor }),
  });
}
