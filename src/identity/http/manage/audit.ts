import { listIdentityAudit } from "../../api/manage/audit.ts";
import { readFlag } from "../../../base/wire/query.ts";
import type { Management } from "../../service/manage/manage.ts";
import { mount, type Plane } from "../../../base/http/mount.ts";
import { readCount } from "../../../base/http/request.ts";

const pageDefault = 50;

export function mountIdentityAudit(plane: Plane, { audit }: Management, options: { pageMax: number }): void {
  mount(plane, listIdentityAudit, ({ query: { instance, global, query, strict, limit, cursor } }) => {
    const page = { limit: readCount("limit", limit, options.pageMax) ?? pageDefault, cursor };
    return audit.list(
      { instance, global: readFlag(global, false) },
      { query, strict: readFlag(strict, true), ...page },
    );
  });
}
