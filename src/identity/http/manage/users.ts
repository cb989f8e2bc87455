import {
  banIdentityUser,
  createIdentityUser,
  deleteIdentityUser,
  getIdentityUser,
  listIdentityPairs,
  listIdentityUsers,
  setIdentityPassword,
  unbanIdentityUser,
  verifyIdentityUser,
} from "../../api/manage/users.ts";
import { readFlag } from "../../../base/wire/query.ts";
import type { Management } from "../../service/manage/manage.ts";
import { type Call, mount, type Plane } from "../../../base/http/mount.ts";
import { readCount, readParam } from "../../../base/http/request.ts";

const pageDefault = 50;

export function mountIdentityUsers(plane: Plane, { users, pairs }: Management, options: { pageMax: number }): void {
  const userOf = ({ params, query }: Pick<Call<typeof getIdentityUser>, "params" | "query">) => ({
    instance: query.instance,
    user: readParam(params, "user"),
  });
  mount(plane, listIdentityUsers, ({ query: { instance, query, strict, limit, cursor } }) => {
    const page = { limit: readCount("limit", limit, options.pageMax) ?? pageDefault, cursor };
    return users.list(instance, { query, strict: readFlag(strict, true), ...page });
  });
  mount(plane, listIdentityPairs, ({ query: { instance } }) => pairs(instance));
  mount(plane, createIdentityUser, ({ query: { instance }, body, actor }) => users.create(instance, body, { actor }));
  mount(plane, getIdentityUser, (call) => users.get(userOf(call)));
  mount(plane, banIdentityUser, (call) => users.ban(userOf(call), call));
  mount(plane, unbanIdentityUser, (call) => users.unban(userOf(call), call));
  mount(plane, verifyIdentityUser, (call) => users.verify(userOf(call), call));
  mount(plane, setIdentityPassword, (call) => users.setPassword(userOf(call), call.body, call));
  mount(plane, deleteIdentityUser, (call) => users.remove(userOf(call), call));
}
