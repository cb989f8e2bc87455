import { readFigures } from "../../src/ingress/core/figures/proxy-figures.ts";
import type { IngressManifest } from "../../src/ingress/core/ingress-spec.ts";
import { nothingAssigned } from "../../src/ingress/core/assign.ts";
import type { IngressState } from "../../src/ingress/service/create.ts";
import { createIngressViews, type IngressViewOptions } from "../../src/ingress/service/ingress-views.ts";
import { site, table, upstream } from "./ingress-table.ts";

/** As HAProxy 2.6 writes it, cut to the columns that are read and some that are not. */
export const stat = [
  "# pxname,svname,qcur,scur,stot,bin,bout,status,hrsp_1xx,hrsp_2xx,hrsp_3xx,hrsp_4xx,hrsp_5xx,hrsp_other,",
  "web,FRONTEND,,3,10,900,9000,OPEN,0,8,0,1,1,0,",
  "p1,s1,0,2,6,100,1000,no check,0,6,0,0,0,0,",
  "p1,s2,0,0,3,50,500,MAINT,0,3,0,0,0,0,",
  "p1,BACKEND,4,2,9,150,1500,UP,0,7,0,1,2,0,",
  "t2,BACKEND,0,1,5,70,80,UP,,,,,,,",
].join("\n");

export const info = "Name: HAProxy\nPid: 11\nUptime_sec: 3600\nCurrConns: 7\n";

/** One ingress, shop/web, with a replica that is ready and one that leaves, and one whose host is taken. */
export const ingresses: IngressManifest[] = [
  { scope: "shop", name: "web", spec: { host: "web.test", tls: {} } },
  { scope: "shop", name: "late", spec: { host: "web.test", service: "web" } },
];

export function ingressState(changed: Partial<IngressState> = {}): IngressState {
  const upstreams = [upstream(8001), upstream(8002, { isLeaving: true })];
  return {
    table: table([site("web", upstreams)]),
    problems: [{ id: "shop/late", reason: "HostTaken", message: "host: web.test is already served" }],
    refused: [],
    problem: undefined,
    isStopped: false,
    ...changed,
  };
}

type Usable = NonNullable<ReturnType<IngressViewOptions["proxy"]["usable"]>>;

export function usableView(proxy: Usable["proxy"], image?: string): IngressViewOptions["proxy"] {
  const usable = { proxy, version: "2.6.12", ...(image === undefined ? {} : { image }) };
  return { usable: () => usable, state: () => "usable" };
}

/** Views of a proxy that runs, and what was asked of it. */
export function ingressViews(changed: Partial<IngressViewOptions> = {}, state = ingressState()) {
  const calls: string[] = [];
  const servers = { "container-8001": { name: "s1", words: "" }, "container-8002": { name: "s2", words: "" } };
  const assignment = { ...nothingAssigned, backends: { "shop/web": "p1" }, servers: { p1: servers } };
  const views = createIngressViews({
    ingress: {
      state: () => state,
      reload: async () => void calls.push("reload"),
      stop: async () => void calls.push("stop"),
    },
    loops: { problem: () => undefined },
    lately: () => ({ seconds: 30, requests: 0, failed: 0 }),
    certificates: { list: () => ({ certificates: [] }) },
    plugins: { of: () => undefined, reload: () => calls.push("plugins") > 0, caughtUp: async () => undefined },
    ingresses: () => ingresses,
    proxy: usableView({
      pid: async () => 10,
      figures: async () => readFigures(info, stat),
      running: () => ({ table: table([]), assignment }),
    }),
    traffic: () => ({ seconds: 60, sites: [], dropped: 0 }),
    access: async (filter, limit) => {
      calls.push(`access ${JSON.stringify(filter)} ${limit}`);
      return [];
    },
    listen: { http: ["0.0.0.0:80"], https: [], trustedProxies: [], proxyProtocolFrom: [] },
    ...changed,
  });
  return { views, calls };
}
