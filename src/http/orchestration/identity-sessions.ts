import { listIdentitySessions, revokeIdentitySession } from "../../api/orchestration/identity-sessions.ts";
import { readFlag } from "../../api/query.ts";
import type { Management } from "../../identity/manage/manage.ts";
import { mount, type Plane } from "./mount.ts";
import { readCount, readParam } from "./request.ts";

const pageDefault = 50;

export function mountIdentitySessions(plane: Plane, { sessions }: Management, options: { pageMax: number }): void {
  mount(plane, listIdentitySessions, {
    answer({ query: { instance, user, query, strict, limit, cursor } }) {
      const page = { limit: readCount("limit", limit, options.pageMax) ?? pageDefault, cursor };
      return sessions.list(instance, { user, query, strict: readFlag(strict, true), ...page });
    },
  });
  mount(plane, revokeIdentitySession, {
    answer: ({ params, query: { instance }, actor }) =>
      sessions.revoke(instance, readParam(params, "session"), { actor }),
  });
}
