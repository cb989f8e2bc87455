import { expect, test } from "bun:test";
import { systemClock } from "../../../../src/base/words/clock.ts";
import type { IngressManifest } from "../../../../src/ingress/core/ingress-spec.ts";
import type { Table } from "../../../../src/ingress/core/table.ts";
import type { Applied, IngressProxy } from "../../../../src/ingress/proxy/proxy.ts";
import { createIngress } from "../../../../src/ingress/service/create.ts";
import { fixedProxy } from "../../../../src/ingress/service/usable-proxy.ts";
import type { PodEndpoint } from "../../../../src/orchestration/api/pod-endpoint.ts";
import { endpoint } from "../../../support/ingress-input.ts";
import { silentLog } from "../../../support/silent-log.ts";

const nothing: Applied = { refused: [], reloadReasons: [] };

/** An ingress whose proxy takes a table as `apply` says. */
function ingressWith(
  apply: (table: Table) => Promise<Applied>,
  ingresses: () => IngressManifest[] = () => [],
  wanted: () => void = () => undefined,
  {
    running,
    pid = async () => 1,
    endpoints = () => [],
  }: Partial<Pick<IngressProxy, "running" | "pid">> & {
    endpoints?: () => PodEndpoint[];
  } = {},
) {
  const proxy: IngressProxy = {
    apply,
    reload: async () => undefined,
    isBusy: async () => false,
    running: running ?? (() => undefined),
    pid,
    figures: () => Promise.reject(new Error("not asked for")),
    run: async () => undefined,
    stop: async () => undefined,
  };
  return createIngress({
    source: {
      ingresses,
      endpoints,
      serviceKinds: () => ["deployment"],
      planes: {},
      subscribe: () => () => undefined,
    },
    certificates: { wanted, current: () => [], onChange: () => () => undefined },
    proxy: fixedProxy({ proxy, version: "2.6.12" }),
    listen: { http: ["127.0.0.1:80"], https: [], trustedProxies: [], proxyProtocolFrom: [] },
    ownPorts: new Map(),
    clock: systemClock,
    log: silentLog,
    limits: {
      gatherMs: 1,
      caughtUpMs: 5_000,
      backoffFirstMs: 10,
      backoffMaxMs: 20,
      resyncMs: 60_000,
      wakeHoldMs: 60_000,
    },
  });
}

async function whileRunning(ingress: ReturnType<typeof ingressWith>, work: () => Promise<void>): Promise<void> {
  const ending = new AbortController();
  const running = ingress.run(ending.signal);
  try {
    await work();
  } finally {
    ending.abort();
    await running;
  }
}

test("until the proxy has the first table, a rollout waits: it may still serve what the last server told it", async () => {
  const applied = Promise.withResolvers<Applied>();
  const ingress = ingressWith(() => applied.promise);
  const { signal } = new AbortController();
  await whileRunning(ingress, async () => {
    expect(ingress.serves("any")).toBe(true);
    let isOver = false;
    const waiting = ingress.caughtUp(signal).then((isDone) => {
      isOver = true;
      return isDone;
    });
    await Promise.resolve();
    expect(isOver).toBe(false);
    applied.resolve(nothing);
    expect(await waiting).toBe(true);
    expect(ingress.serves("any")).toBe(false);
  });
});

test("a proxy that takes no table holds no rollout up", async () => {
  const refused = Promise.withResolvers<void>();
  const ingress = ingressWith(async () => {
    refused.resolve();
    throw new Error("port 80 is taken");
  });
  await whileRunning(ingress, async () => {
    await refused.promise;
    await Bun.sleep(0);
    expect(ingress.serves("any")).toBe(false);
    expect(await ingress.caughtUp(new AbortController().signal)).toBe(false);
  });
});

test("what a proxy that runs has not taken over is lacking; one that has never run leads nowhere and lacks nothing", async () => {
  const { signal } = new AbortController();
  const refusing = () => Promise.reject(new Error("port 80 is taken"));
  const ingresses = () => [{ scope: "shop", name: "a", spec: { host: "a.test", service: "web" } }];
  const before: Table = { sites: [], tcp: [] } as unknown as Table;
  for (const [running, lacks] of [
    [() => ({ table: before }), true],
    [() => undefined, false],
  ] as const) {
    const ingress = ingressWith(refusing, ingresses, () => undefined, {
      running: running as IngressProxy["running"],
      pid: async () => undefined,
      endpoints: () => [endpoint({ id: "new" })],
    });
    await whileRunning(ingress, async () => {
      expect(await ingress.caughtUp(signal)).toBe(false);
      expect([ingress.lacks("new"), ingress.lacks("other")]).toEqual([lacks, false]);
    });
  }
});

test("certificates are asked for once, and again when an ingress is another", async () => {
  const spec = { host: "a.test", tls: {} };
  let ingresses = [{ scope: "shop", name: "a", spec }];
  let asked = 0;
  const tables: Table[] = [];
  const ingress = ingressWith(
    async (table) => {
      tables.push(table);
      return nothing;
    },
    () => ingresses.map((one) => ({ ...one })),
    () => void asked++,
  );
  const { signal } = new AbortController();
  await whileRunning(ingress, async () => {
    for (let turn = 0; turn < 3; turn += 1) expect(await ingress.caughtUp(signal)).toBe(true);
    expect(tables.length).toBeGreaterThan(1);
    expect(asked).toBe(1);
    ingresses = [{ scope: "shop", name: "a", spec: { ...spec, host: "b.test" } }];
    expect(await ingress.caughtUp(signal)).toBe(true);
    expect(asked).toBe(2);
    expect(tables.at(-1)?.sites.map(({ hosts }) => hosts)).toEqual([["b.test"]]);
  });
});
