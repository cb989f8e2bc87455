import { deleteIdentityProvider, listIdentityProviders, putIdentityProvider } from "../../api/manage/providers.ts";
import { readFlag } from "../../../base/wire/query.ts";
import type { Place } from "../../service/manage/context.ts";
import type { Management } from "../../service/manage/manage.ts";
import { mount, type Plane } from "../../../base/http/mount.ts";
import { readParam } from "../../../base/http/request.ts";

export function mountIdentityProviders(plane: Plane, { providers }: Management): void {
  mount(plane, listIdentityProviders, ({ query }) => providers.list(placeOf(query)));
  mount(plane, putIdentityProvider, ({ params, query, body, actor }) =>
    providers.put(readParam(params, "name"), { place: placeOf(query), body, by: { actor } }),
  );
  mount(plane, deleteIdentityProvider, ({ params, query, actor }) =>
    providers.remove(readParam(params, "name"), { place: placeOf(query), by: { actor } }),
  );
}

function placeOf({ instance, global }: { instance?: string; global?: string }): Place {
  return { instance, global: readFlag(global, false) };
}
