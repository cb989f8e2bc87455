import { readCount, readSince } from "../../base/http/request.ts";
import { listActivity, listAudit } from "../api/activity.ts";
import { mount } from "../../base/http/mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

const rowsMax = 1_000;
const rowsAtOnce = 100;

export function mountActivity(plane: ObservabilityPlane): void {
  const { activity } = plane.observability;
  mount(plane, listActivity, ({ grant, query: { type, actor, ...page } }) =>
    activity.events(grant, { type, actor, ...readPage(page, Date.now()) }),
  );
  mount(plane, listAudit, ({ query: { token, action, ...page } }) =>
    activity.audit({ token, action, ...readPage(page, Date.now()) }),
  );
}

function readPage(
  { app, since, limit, cursor }: { app?: string; since?: string; limit?: string; cursor?: string },
  now: number,
) {
  return {
    app,
    since: readSince(since, now),
    limit: Math.max(1, readCount("limit", limit, rowsMax) ?? rowsAtOnce),
    before: readCount("cursor", cursor, Number.MAX_SAFE_INTEGER),
  };
}
