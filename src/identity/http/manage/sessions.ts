import { listIdentitySessions, revokeIdentitySession } from "../../api/manage/sessions.ts";
import { readFlag } from "../../../base/wire/query.ts";
import type { Management } from "../../service/manage/manage.ts";
import { mount, type Plane } from "../../../base/http/mount.ts";
import { readCount, readParam } from "../../../base/http/request.ts";

const pageDefault = 50;

export function mountIdentitySessions(plane: Plane, { sessions }: Management, options: { pageMax: number }): void {
  mount(plane, listIdentitySessions, ({ query: { instance, user, query, strict, limit, cursor } }) => {
    const page = { limit: readCount("limit", limit, options.pageMax) ?? pageDefault, cursor };
    return sessions.list(instance, { user, query, strict: readFlag(strict, true), ...page });
  });
  mount(plane, revokeIdentitySession, ({ params, query: { instance }, actor }) =>
    sessions.revoke(instance, readParam(params, "session"), { actor }),
  );
}
