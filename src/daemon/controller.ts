import { randomBytes } from "node:crypto";
import { direct } from "../base/wire/outgoing.ts";
import { proxyArguments } from "../base/pure/proxy-choice.ts";
import { createDownload } from "../base/deliver/download.ts";
import { createPinned } from "../base/deliver/pinned.ts";
import { resolveHost } from "../base/deliver/resolve-host.ts";
import { createAssets } from "../base/disk/assets.ts";
import { availableMemoryBytes } from "../base/machine/memory.ts";
import { systemClock } from "../base/words/clock.ts";
import { limits, proxyVariables } from "../config/config.ts";
import { createController } from "../orchestration/controller/create.ts";
import type { PluginRoom } from "../orchestration/controller/state/plugin-room.ts";
import { createInsideNetwork } from "../local/inside-network.ts";
import { aboutServer } from "./about.ts";
import { newestCopyIn } from "../backups/service/records.ts";
import { copyBefore, recordsOf } from "./backups.ts";
import type { openEngine } from "./engine.ts";
import type { Ground, Late } from "./ground.ts";
import { gateOf } from "./ingress.ts";
import { telemetryTarget } from "./telemetry.ts";

interface Given {
  plugins: PluginRoom;
  network: Awaited<ReturnType<typeof openEngine>>;
  /** Where the other planes listen, by name; undefined for one that is turned off. */
  listeners: Record<string, string | undefined>;
}

/** The controller, and what it is given from outside. */
export function makeController(ground: Ground, late: Late, given: Given): ReturnType<typeof createController> {
  const { options, layout, names, store, gate, log, sendWebhooks } = ground;
  const routing = {
    plugin: options.ingressPlugin,
    isOwnOff: options.ingressHttpAddr === "" && options.ingressHttpsAddr === "",
  };
  return createController({
    ...{ store, gate, layout, names, log, plugins: given.plugins, engine: given.network.steady },
    assets: createAssets(layout.assets),
    clock: systemClock,
    limits: { ...limits, ingress: { ...limits.ingress, anyPolicy: routing.plugin !== "" || routing.isOwnOff } },
    insideNetwork: createInsideNetwork(),
    randomBytes: (count) => randomBytes(count),
    freeMemory: availableMemoryBytes,
    fetch: (url, init) => direct(url, { ...init, redirect: "manual" }),
    download: createDownload({
      fetch: createPinned(proxyVariables()),
      resolve: resolveHost,
      allowPrivate: options.allowPrivateWebhooks,
    }),
    buildArguments: proxyArguments(proxyVariables()),
    ...telemetryTarget(options, () => late.telemetry),
    statsIntervalMs: options.statsIntervalMs,
    ingressGate: gateOf(() => late.ingress),
    forwarding: given.network.forwarding,
    stills: given.network.stills,
    ingressProblem: () => late.ingress?.problem(),
    ingressServed: (manifest) => late.ingress?.views.served(manifest),
    routing,
    ingressPluginOf: (id) => late.ingress?.plugins.of(id),
    newestCopy: newestCopyIn(recordsOf(store)),
    copyBefore: copyBefore(late),
    bringImage: async (id) => (await late.backups?.bringImage(id)) ?? false,
    trafficOf: (key, span) => late.ingress?.trafficOf(key, span),
    ingressUse: async () => (await late.ingress?.use()) ?? (() => undefined),
    privateWebhooks: options.allowPrivateWebhooks,
    sendWebhook: sendWebhooks({ allowPrivate: options.allowPrivateWebhooks }),
    listeners: () =>
      Object.entries(given.listeners).flatMap(([name, address]) => (address === undefined ? [] : [{ name, address }])),
    about: aboutServer(options),
  });
}
