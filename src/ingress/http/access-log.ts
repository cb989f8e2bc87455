import { listAccess } from "../api/access-log.ts";
import { isStatusFilter } from "../core/access-entry.ts";
import type { IngressViews } from "../service/ingress-views.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { readCount } from "../../base/http/request.ts";
import { Failure } from "../../base/wire/failure.ts";

const [pageDefault, pageMax] = [100, 1_000];

export function mountAccessLog(plane: Plane, views: Pick<IngressViews, "access">): void {
  mount(plane, listAccess, async ({ query: { ingress, status, request_id: requestId, after, limit } }) => {
    if (status !== undefined && !isStatusFilter(status)) {
      throw new Failure("invalid", `status: "${status}" is not a status; use a number such as 404, or 5xx`);
    }
    const from = readCount("after", after, Number.MAX_SAFE_INTEGER);
    const filter = {
      ...(ingress === undefined ? {} : { ingress }),
      ...(status === undefined ? {} : { status }),
      ...(requestId === undefined ? {} : { requestId }),
      ...(from === undefined ? {} : { after: from }),
    };
    return { entries: await views.access(filter, readCount("limit", limit, pageMax) ?? pageDefault) };
  });
}
