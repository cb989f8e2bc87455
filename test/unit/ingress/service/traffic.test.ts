import { expect, test } from "bun:test";
import type { Running } from "../../../../src/ingress/core/change.ts";
import type { IngressManifest } from "../../../../src/ingress/core/ingress-spec.ts";
import { createTraffic } from "../../../../src/ingress/service/traffic.ts";
import type { PodKind } from "../../../../src/orchestration/api/manifest.ts";
import { accessText } from "../../../support/access-lines.ts";
import { runningWith } from "../../../support/ingress-running.ts";
import { site, upstream } from "../../../support/ingress-table.ts";

const start = 1_700_000_000_000;
const limits = {
  secondsKept: 900,
  sumsMax: 1_000,
  replicasCounted: 10,
  leftMax: 10,
  hostsCounted: 5,
  failedSitesMax: 10,
  failedRoutesKept: 10,
};
const ingress = (name: string, spec = {}): IngressManifest => ({ scope: "shop", name, spec });

function traffic(
  options: {
    hasProxy?: boolean;
    running?: () => Running | undefined;
    kinds?: PodKind[];
    ingresses?: IngressManifest[];
  } = {},
) {
  const running = runningWith([site("web", [upstream(8001)]), site("api", [upstream(8002)])]);
  const told: string[] = [];
  const made = createTraffic({
    hasProxy: () => options.hasProxy ?? true,
    running: options.running ?? (() => running),
    ingresses: () => options.ingresses ?? [ingress("web"), ingress("api", { service: "web" }), ingress("other")],
    serviceKinds: (_, name) => (name === "web" ? (options.kinds ?? ["deployment"]) : []),
    onRequest: ({ requestId }, place) => told.push(`${requestId} ${place.site}`),
    now: () => start + 30_000,
    limits,
  });
  return { ...made, told };
}

const web = { kind: "deployment", scope: "shop", name: "web" } as const;
const span = { from: start, to: start + 60_000 };

test("the traffic of a resource is that of all ingresses that lead to it", () => {
  const { take, of, told } = traffic();
  take(accessText({ totalMs: 10 }));
  take(accessText({ backend: "p2", server: "s2", status: 503, totalMs: 30 }));
  take(accessText({ backend: "p7", server: "s7" }));
  take("not a line");
  expect(of(web, span)).toEqual({ requests: 2, failed: 1, p50_ms: 10, p99_ms: 30 });
  expect(of(web, { from: start + 1_000, to: start + 2_000 })).toEqual({ requests: 0, failed: 0 });
  expect(told).toEqual(["id-1 shop/web", "id-1 shop/api"]);
});

test("there is none where no ingress leads, or nothing is served", () => {
  const { of } = traffic();
  expect(of({ ...web, name: "gone" }, span)).toBeUndefined();
  expect(of({ ...web, scope: "else" }, span)).toBeUndefined();
  expect(of({ ...web, kind: "statefulset" }, span)).toBeUndefined();
  expect(traffic({ hasProxy: false }).of(web, span)).toBeUndefined();
  expect(traffic({ ingresses: [ingress("web", { tcp: { port: 5432 } })] }).of(web, span)).toBeUndefined();
});

test("right after a start of the server there is traffic to come, not none to look at", () => {
  expect(traffic({ running: () => undefined }).of(web, span)).toEqual({ requests: 0, failed: 0 });
});

test("only requests that certain containers answered count where the question names them", () => {
  const running = runningWith([site("web", [upstream(8001), upstream(8002)])]);
  const [first, second] = running.table.sites[0]?.upstreams.map(({ id }) => id) ?? [];
  const { take, of } = traffic({ running: () => running });
  const servers = running.assignment.servers.p1 ?? {};
  take(accessText({ server: servers[first ?? ""]?.name ?? "", status: 500 }));
  take(accessText({ server: servers[second ?? ""]?.name ?? "" }));
  const failedOf = (...ids: (string | undefined)[]) =>
    of(web, { ...span, containers: new Set(ids.map((id) => id ?? "")) });
  expect(failedOf(first)).toMatchObject({ requests: 1, failed: 1 });
  expect(failedOf(second)).toMatchObject({ requests: 1, failed: 0 });
  expect(failedOf(first, second)).toMatchObject({ requests: 2, failed: 1 });
  expect(failedOf()).toMatchObject({ requests: 0 });
});

test("an ingress with an ordinal leads to the statefulset of the name", () => {
  const ingresses = [ingress("web", { ordinal: 0 })];
  const { of } = traffic({ kinds: ["deployment", "statefulset"], ingresses });
  expect(of(web, span)).toBeUndefined();
  expect(of({ ...web, kind: "statefulset" }, span)).toEqual({ requests: 0, failed: 0 });
});

test("the last minute has a row for each ingress with requests in the last five", () => {
  const { take, lastMinute } = traffic();
  for (let count = 0; count < 6; count++)
    take(accessText({ status: 200 + 100 * (count % 4), heldMs: count, retries: count }));
  take(accessText({ status: 503, at: start - 120_000 }));
  take(accessText({ backend: "p2", server: "s2", at: start - 300_000 }));
  expect(lastMinute()).toEqual({
    seconds: 60,
    sites: [
      {
        ...{ ingress: "shop/web", requests: 6, rate: 0.1, failed: 1, p50_ms: 12, p99_ms: 12, held: 5, retried: 5 },
        five_minutes: { requests: 7, failed: 2 },
        failed_routes: [{ route: "GET /a", failed: 2 }],
        status: { "1xx": 0, "2xx": 2, "3xx": 2, "4xx": 1, "5xx": 1, none: 0 },
        ...{ bytes_in: 420, bytes_out: 2400 },
      },
    ],
  });
});

test("a line from the future counts now, so that a clock that was set back hides no request", () => {
  const { take, of } = traffic();
  take(accessText({ at: start + 86_400_000 }));
  take(accessText());
  expect(of(web, span)?.requests).toBe(2);
});
