import type { Layout } from "../base/disk/layout.ts";
import { systemClock } from "../base/words/clock.ts";
import type { Log } from "../base/words/log.ts";
import { limits, type ServeOptions } from "../config/config.ts";
import { networkLimits } from "../config/network-limits.ts";
import { createForwardingWatch, examineForwarding } from "../local/forwarding.ts";
import { createStrayRoutes } from "../local/stray-routes.ts";
import type { Naming } from "../orchestration/core/naming.ts";
import type { Engine } from "../orchestration/engine/engine.ts";
import type { Store } from "../orchestration/store/store.ts";
import { openNamesRoom } from "./names.ts";

interface NetworkParts {
  engine: Engine;
  store: Pick<Store, "manifests" | "subscribe">;
  layout: Layout;
  names: Naming;
  options: ServeOptions;
  log: Log;
}

/** What looks after the platform's network as this machine sees it. */
export function createNetworkRoom({ engine, store, layout, names, options, log }: NetworkParts) {
  const strays = createStrayRoutes({
    subnets: () => engine.networkSubnets(names.network),
    file: layout.subnets,
    clock: systemClock,
    log,
    limits: networkLimits,
  });
  const forwarding = createForwardingWatch({
    examine: () => examineForwarding(options.dockerHost, names.network),
    clock: systemClock,
    log,
    firstMs: limits.forwardingFirstMs,
    everyMs: limits.forwardingLookMs,
  });
  const named = openNamesRoom({ layout, names, options, store, log });
  /** The same engine, but a network that it makes is looked at: it may have other addresses than the last one. */
  const watched: Engine = {
    ...engine,
    async ensureNetwork(name) {
      await engine.ensureNetwork(name);
      if (name === names.network) void strays.look();
    },
    create: async (spec) => engine.create(await named.withServers(spec)),
  };
  return {
    engine: watched,
    forwarding: forwarding.facts,
    restore: strays.restore,
    run: async (signal: AbortSignal) =>
      void (await Promise.all([forwarding, strays, named].map((one) => one.run(signal)))),
  };
}
