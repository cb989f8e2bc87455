import type { SteadyClock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import { sleepAbout } from "../../base/words/sleep-about.ts";
import { networkLimits } from "../../config/network-limits.ts";
import type { ContainerSpec } from "../../orchestration/core/workload.ts";
import type { HostServers } from "./host-servers.ts";
import type { NamesNetwork } from "./network.ts";
import type { NameProcess } from "./process.ts";
import type { ZoneFile } from "./zone-file.ts";

type Problem = NonNullable<ZoneFile["problem"]>;

interface NamesParts {
  network: string;
  suffix: string;
  readNetwork: () => Promise<NamesNetwork | undefined>;
  hostServers: () => HostServers | { problem: string };
  shortNames: () => string[];
  process: NameProcess;
  prove: (network: NamesNetwork, server: string) => Promise<string | undefined>;
  write: (zone: ZoneFile) => Promise<void>;
  isRoot: boolean;
  clock: SteadyClock;
  log: Log;
}

/** The name server of the containers: keeps it running, and knows whether new containers may ask it. */
export interface NamesRoom {
  /** Looks at the network soon: it was made, or may have other addresses. */
  look(): Promise<void>;
  /** A resource was written: its short names are kept from other name servers. */
  changed(): void;
  /** The container as it is made: with the name server, if it is on the network and has none of its own. */
  withServers(spec: ContainerSpec): Promise<ContainerSpec>;
  run(signal: AbortSignal): Promise<void>;
}

const { names: limits } = networkLimits;

export function createNamesRoom(parts: NamesParts): NamesRoom {
  const { clock, log, process } = parts;
  let written = "";
  let isStale = false;
  let zone: ZoneFile | undefined;
  let looking: Promise<void> | undefined;
  /** What was proved, and when. */
  let proof: { of: string; at: number; problem: string | undefined } | undefined;
  let reported = "";

  async function keep(next: Omit<ZoneFile, "short">): Promise<void> {
    isStale = false;
    const whole = { ...next, short: parts.shortNames() };
    const text = JSON.stringify(whole);
    try {
      if (text !== written) await parts.write(whole);
    } catch (error) {
      isStale = true;
      throw error;
    }
    written = text;
    zone = whole;
  }

  async function lookOnce(): Promise<void> {
    const network = await parts.readNetwork().catch(() => "away" as const);
    // An engine that is away is reported elsewhere, and what runs still asks the name server.
    if (network === "away") return;
    if (network === undefined) {
      zone = undefined;
      return;
    }
    const host = parts.hostServers();
    const search = "problem" in host ? [] : host.search;
    const base = { suffix: parts.suffix, search, subnets: network.subnets };
    // The name server reads it when it starts, and answers no question while the file knows no network.
    if (zone === undefined) await keep({ ...base, servers: [] });
    const problem = "problem" in host ? noServers(host.problem) : await problemOf(network);
    const servers = "problem" in host || problem !== undefined ? [] : [network.gateway, ...host.servers];
    await keep({ ...base, servers: servers.slice(0, limits.serversMax), ...(problem && { problem }) });
    report(problem?.text ?? "");
  }

  async function problemOf(network: NamesNetwork): Promise<Problem | undefined> {
    if (!parts.isRoot) return { text: "only root can listen on port 53", mend: "run the server as root" };
    const server = `${network.gateway}:${limits.port}`;
    const failed = await process.ensure(server);
    if (failed !== undefined) {
      return { text: `cannot listen on ${server}: ${failed}`, mend: `stop what listens there: ss -lunp 'sport = :53'` };
    }
    const of = `${server} ${network.bridge}`;
    if (proof?.of !== of || proof.problem !== undefined || clock.steady() - proof.at >= limits.proveMs) {
      const wrong = await parts.prove(network, server);
      proof = { of, at: clock.steady(), problem: wrong };
    }
    if (proof.problem === undefined) return undefined;
    return { text: proof.problem, mend: allow(network) };
  }

  /** The same trouble is reported once. */
  function report(text: string): void {
    if (text === reported) return;
    if (text === "") log.info("containers ask the server for names of services");
    else log.warn("names of services that do not run may be asked of other name servers", { error: text });
    reported = text;
  }

  const look = () => {
    looking ??= lookOnce()
      .catch((error: unknown) => report(error instanceof Error ? error.message : String(error)))
      .finally(() => {
        looking = undefined;
      });
    return looking;
  };
  /** A name that was written must be known before a container with it is made. */
  const freshen = async () => {
    if (zone !== undefined && isStale) await keep(zone).catch(() => undefined);
  };
  const lookForAWhile = async () => {
    const over = new AbortController();
    await Promise.race([look(), clock.sleep(limits.firstLookMs, over.signal)]);
    over.abort();
  };
  /** What a container gets now: the network may be another one since the last look. */
  async function current(): Promise<readonly string[]> {
    const network = await parts.readNetwork().catch(() => undefined);
    if (network === undefined) return [];
    const isKnown = zone?.problem !== undefined || zone?.servers[0] === network.gateway;
    if (!isKnown) await lookForAWhile();
    await freshen();
    const servers = zone?.servers ?? [];
    return servers[0] === network.gateway ? servers : [];
  }
  return {
    look,
    changed() {
      isStale = true;
    },
    async withServers(spec) {
      if (spec.options.dns !== undefined || !spec.networks.some(({ name }) => name === parts.network)) return spec;
      const servers = await current();
      return servers.length === 0 ? spec : { ...spec, options: { ...spec.options, dns: [...servers] } };
    },
    async run(signal) {
      let [nextLook, nextHost, host] = [0, 0, ""];
      while (!signal.aborted) {
        if (clock.steady() >= nextHost) {
          nextHost = clock.steady() + limits.hostMs;
          const text = JSON.stringify(parts.hostServers());
          if (text !== host) nextLook = 0;
          host = text;
        }
        const isDown =
          zone !== undefined && zone.servers[0] !== undefined && !process.isUp(`${zone.servers[0]}:${limits.port}`);
        if (isDown || clock.steady() >= nextLook) {
          await look();
          nextLook = clock.steady() + (zone?.problem === undefined ? limits.lookMs : limits.retryMs);
        } else {
          await freshen();
        }
        await sleepAbout(clock, limits.aliveLookMs, signal);
      }
      await looking;
    },
  };
}

function noServers(text: string): Problem {
  return { text, mend: 'name others as "dns" in /etc/docker/daemon.json, and restart Docker' };
}

/** How the firewalls of Debian and Ubuntu let the questions through. */
function allow({ bridge, gateway }: NamesNetwork): string {
  const rule = ["udp", "tcp"].map(
    (kind) => `iptables -I INPUT -i ${bridge} -d ${gateway} -p ${kind} --dport 53 -j ACCEPT`,
  );
  return `ufw allow in on ${bridge} to ${gateway} port 53; without ufw: ${rule.join("; ")}`;
}
