import { readCount } from "../../base/http/request.ts";
import { parseDuration } from "../../base/pure/duration.ts";
import { Failure } from "../../base/wire/failure.ts";
import { readFlag } from "../../base/wire/query.ts";
import { listRequests } from "../api/traffic.ts";
import { mount } from "../../base/http/mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

const requestsMax = 1_000;
const requestsAtOnce = 100;

export function mountTraffic(plane: ObservabilityPlane): void {
  const { traffic } = plane.observability;
  mount(plane, listRequests, ({ grant, query: { app, host, path, method, status, ...query } }) =>
    traffic.requests(grant, {
      ...{ app, host, path, method, status: readStatus(status) },
      slowerThanMs: query.slower_than === undefined ? undefined : readTime(query.slower_than),
      requestId: query.request_id,
      failed: readFlag(query.failed, false),
      limit: Math.max(1, readCount("limit", query.limit, requestsMax) ?? requestsAtOnce),
      before: readCount("cursor", query.cursor, Number.MAX_SAFE_INTEGER),
    }),
  );
}

function readStatus(text: string | undefined): string | undefined {
  if (text === undefined || /^[1-5](?:\d\d|xx)$/.test(text)) return text;
  throw new Failure("invalid", `query status: "${text}" is neither a status such as 404 nor a class such as 5xx`);
}

function readTime(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new Failure("invalid", `query slower_than: "${text}" is not a duration; write it like "500ms"`);
}
