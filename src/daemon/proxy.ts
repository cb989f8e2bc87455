import { join } from "node:path";
import type { ServeOptions } from "../config/config.ts";
import { certificateLimits } from "../config/certificate-limits.ts";
import { proxyLimits } from "../config/proxy-limits.ts";
import type { Layout } from "../base/disk/layout.ts";
import { hasUser } from "../base/machine/accounts.ts";
import type { IngressWord } from "../base/http/ingress-word.ts";
import { systemClock } from "../base/words/clock.ts";
import type { Log } from "../base/words/log.ts";
import type { Capabilities, Setup } from "../ingress/core/change.ts";
import { findBinary, toldBy } from "../ingress/proxy/binary.ts";
import type { Door } from "../ingress/proxy/door.ts";
import type { Launch } from "../ingress/proxy/launch.ts";
import { launchContainer } from "../ingress/proxy/launch-container.ts";
import { launchProgram } from "../ingress/proxy/launch-program.ts";
import { connectionsAllowed, filesAllowed } from "../ingress/proxy/open-files.ts";
import { openProxy } from "../ingress/proxy/open.ts";
import type { Receiver } from "../ingress/proxy/receiver.ts";
import { fixedProxy, laterProxy, type ProxySource, type UsableProxy } from "../ingress/service/usable-proxy.ts";
import type { Engine } from "../orchestration/engine/engine.ts";
import type { Helper, HelperProgram } from "../orchestration/engine/helper.ts";
import type { Naming } from "../orchestration/core/naming.ts";

export interface ProxyParts {
  options: ServeOptions;
  layout: Layout;
  names: Naming;
  log: Log;
  engine: Engine;
  /** What own services know our ingress by. */
  ingressWord: IngressWord;
  /** The container of a program that the server itself needs. */
  helper: (program: HelperProgram) => Helper;
}

/** What the proxy asks and tells the server through. */
interface Ends {
  receiver: Receiver;
  door: Door;
}

interface SourceParts extends ProxyParts {
  /** Whether an ingress needs the proxy. */
  isWanted: () => boolean;
}

/** How HAProxy can be used on this machine. */
type ProxyWay =
  /** It is installed. */
  | { by: "program"; open: (ends: Ends) => Promise<UsableProxy> }
  /** From its image. `isHere` says whether the machine has it already. */
  | { by: "image"; image: string; isHere: () => Promise<boolean>; open: (ends: Ends) => Promise<UsableProxy> }
  | { by: "nothing"; problem: string };

const turnedOff = "the ingress is turned off";

/** Looks for it. What is installed is preferred. */
export async function findProxy(parts: ProxyParts): Promise<ProxyWay> {
  const { ingressHttpAddr, ingressHttpsAddr, ingressImage: image } = parts.options;
  if (ingressHttpAddr === "" && ingressHttpsAddr === "") return { by: "nothing", problem: turnedOff };
  const found = await findBinary();
  if (found.ok) {
    const { path, version, capabilities } = found.binary;
    const launch = programLaunch(path, parts);
    const user = (await hasUser("/etc", proxyUser)) ? proxyUser : undefined;
    return {
      by: "program",
      open: async (ends) => ({ proxy: await proxyOf({ launch, capabilities, user }, ends, parts), version }),
    };
  }
  if (image === "") return { by: "nothing", problem: found.problem };
  return {
    by: "image",
    image,
    isHere: async () => (await parts.engine.inspectImage(image)) !== undefined,
    open: (ends) => openImage(image, ends, parts),
  };
}

/** An image that the machine has is taken up before the server serves, so that rollouts wait for what it routes. */
export async function proxySource(way: ProxyWay, ends: Ends | undefined, parts: SourceParts): Promise<ProxySource> {
  const { log, isWanted } = parts;
  if (way.by === "nothing" || ends === undefined) {
    const problem = way.by === "nothing" ? way.problem : undefined;
    if (problem !== turnedOff) log.warn("ingresses are not served", { problem });
    return fixedProxy(undefined, { problem, isOff: problem === turnedOff });
  }
  if (way.by === "program") return fixedProxy(await way.open(ends));
  const here = (await way.isHere().catch(() => false)) ? await way.open(ends).catch(() => undefined) : undefined;
  if (here !== undefined) return fixedProxy(here);
  const advice = "HAProxy is not installed either: install it (Debian: apt-get install haproxy) and restart the server";
  const open = () => way.open(ends);
  return laterProxy({ open, isWanted, advice, clock: systemClock, log, limits: proxyLimits.image });
}

function programLaunch(program: string, { layout, options: { ingressUnit } }: ProxyParts): Launch {
  const { startMs, logBytesMax } = proxyLimits;
  // A service that systemd believes to be running, while its process is gone, is started as well.
  const starter = ingressUnit === "" ? undefined : ["systemctl", "restart", ingressUnit];
  return launchProgram({ program, starter, logFile: join(layout.logs, "haproxy.log"), startMs, logBytesMax });
}

/** Pulls the image where the machine does not have it. */
async function openImage(image: string, ends: Ends, parts: ProxyParts): Promise<UsableProxy> {
  const { engine, layout, helper } = parts;
  if ((await engine.inspectImage(image)) === undefined) await engine.pull(image, undefined);
  const container = helper({
    role: "ingress",
    image,
    entrypoint: "haproxy",
    user: `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`,
    folders: [
      { path: layout.ingress, readOnly: true },
      ...[...new Set([layout.run, layout.sockets])].map((path) => ({ path, readOnly: false })),
    ],
    capabilities: ["KILL", "NET_BIND_SERVICE", "SETGID", "SETUID"],
    filesMax: await filesAllowed(proxyLimits),
    limitMs: proxyLimits.startMs,
  });
  const told = toldBy(`the image ${image}`, (await container.once(["-vv"])).stdout);
  if (!told.ok) throw new Error(told.problem);
  const { version, capabilities } = told.program;
  const launch = launchContainer(container);
  return { proxy: await proxyOf({ launch, capabilities, user: proxyUser }, ends, parts), version, image };
}

/** Debian's package and the image have it; workers need no right of root once they listen. */
const proxyUser = "haproxy";

interface Program {
  launch: Launch;
  capabilities: Capabilities;
  user: string | undefined;
}

async function proxyOf({ launch, capabilities, user }: Program, { receiver, door }: Ends, parts: ProxyParts) {
  const { layout, names, log } = parts;
  const setup: Setup = {
    paths: { folder: layout.ingress, socket: layout.ingressSocket },
    capabilities,
    headerPrefix: names.headerPrefix,
    user: process.getuid?.() === 0 ? user : undefined,
    logTo: { address: receiver.address, transport: "udp", word: receiver.word },
    door: { address: door.address, word: door.word, ...certificateLimits.onDemand },
    ownHeader: { name: parts.ingressWord.header, value: parts.ingressWord.word.reveal() },
    ...(await connectionsAllowed({ connectionsMax: proxyLimits.connectionsMax, splicesMax: proxyLimits.splicesMax })),
    spareBackends: proxyLimits.spareBackends,
    threads: undefined,
  };
  const files = { pid: layout.ingressPid, master: layout.ingressMaster };
  return openProxy({ launch, setup, files, clock: systemClock, log, limits: proxyLimits });
}
