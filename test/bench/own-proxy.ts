import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/base/words/clock.ts";
import { createLog } from "../../src/base/words/log.ts";
import { proxyLimits } from "../../src/config/proxy-limits.ts";
import type { Setup } from "../../src/ingress/core/change.ts";
import type { Site, Table } from "../../src/ingress/core/table.ts";
import { findBinary } from "../../src/ingress/proxy/binary.ts";
import { connectionsAllowed } from "../../src/ingress/proxy/open-files.ts";
import { launchProgram } from "../../src/ingress/proxy/launch-program.ts";
import { openProxy } from "../../src/ingress/proxy/open.ts";
import type { IngressProxy } from "../../src/ingress/proxy/proxy.ts";
import { site, table, upstream } from "../support/ingress-table.ts";
import { isServing, type Measured, pin, proxyCore, type ProxyOrder, withChildren } from "./proxies.ts";

/** HAProxy as the server runs it, with one thread. `logTo` is the UDP port of a receiver of one line per request. */
export async function startOwn(order: ProxyOrder & { logTo?: number; splicesMax?: number }): Promise<Measured> {
  const { folder, port, hosts, upstreamPort, logTo, splicesMax = proxyLimits.splicesMax } = order;
  mkdirSync(join(folder, "ingress"), { recursive: true });
  const pidFile = join(folder, "pid");
  const proxy = await ownProxy(folder, pidFile, { logTo, splicesMax });
  const sites = Array.from({ length: hosts }, (_, host) => siteOf(host, upstreamPort, 0));
  let current: Table = table(sites, { http: `127.0.0.1:${port}` });
  const pids = () => withChildren(Number(readFileSync(pidFile, "utf8")));
  const begun = performance.now();
  await proxy.apply(current);
  await isServing(order);
  const startMs = performance.now() - begun;
  pin(proxyCore, ...pids());
  const over = new AbortController();
  const looking = proxy.run(over.signal);
  let changes = 0;
  return {
    port,
    startMs,
    pids,
    async route(host, to) {
      changes += 1;
      current = { ...current, sites: current.sites.with(host, siteOf(host, to, changes)) };
      const { reloadReasons } = await proxy.apply(current);
      if (reloadReasons.length > 0) throw new Error(`a change of one route was a load: ${reloadReasons.join(", ")}`);
    },
    async stop() {
      over.abort();
      await looking;
      await proxy.stop(0);
    },
  };
}

/** Each change is a container of its own. */
function siteOf(host: number, port: number, change: number): Site {
  const container = { id: `container-${host}-${change}` };
  return site(`h${host}`, [upstream(port, container)], { options: { accessLog: "sampled" } });
}

async function ownProxy(
  folder: string,
  pidFile: string,
  { logTo, splicesMax }: { logTo: number | undefined; splicesMax: number },
): Promise<IngressProxy> {
  const found = await findBinary();
  if (!found.ok) throw new Error(found.problem);
  const { path, capabilities } = found.binary;
  const paths = { folder: join(folder, "ingress"), socket: join(folder, "socket") };
  const setup: Setup = {
    paths,
    capabilities,
    door: undefined,
    headerPrefix: "X-Berth",
    user: undefined,
    logTo: logTo === undefined ? undefined : { address: `127.0.0.1:${logTo}`, transport: "udp" },
    ...(await connectionsAllowed({ connectionsMax: proxyLimits.connectionsMax, splicesMax })),
    spareBackends: proxyLimits.spareBackends,
    threads: 1,
  };
  const files = { pid: pidFile, master: join(folder, "master") };
  const { startMs, logBytesMax } = proxyLimits;
  const launch = launchProgram({
    program: path,
    starter: undefined,
    logFile: join(folder, "log"),
    startMs,
    logBytesMax,
  });
  const log = createLog(() => undefined, "error");
  return openProxy({ launch, setup, files, clock: systemClock, log, limits: proxyLimits });
}
