import type { Duplex } from "../../base/words/duplex.ts";
import { health, system } from "../../orchestration/api/health.ts";
import { listenLocally, type LocalListener } from "../forward/listener.ts";
import { readPortPair } from "../forward/ports.ts";
import { sideRoute, type SideRoute } from "../remote/reach.ts";
import { relay } from "../remote/relay.ts";
import type { Remote } from "../remote/remotes.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import type { Route } from "../basics/endpoint.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";
import { listText } from "../basics/table-text.ts";

const loopback = "127.0.0.1";

export const tunnelCommand: CommandBody = {
  usage: ["tunnel [-r NAME] [[LOCAL:]PORT…]"],
  examples: [
    "tunnel  addresses on this machine for the API and the identity service",
    "tunnel -r staging 9090  also port 9090 of the server's own loopback",
    "tunnel :5432  any free local port; it is printed",
  ],
  detail: [
    "Other commands need no tunnel: they open one by themselves. This one is for programs that need an",
    "address, such as a browser. Ends with Ctrl-C. Every user of this machine can connect to the printed",
    "ports, and who connects to the API has the rights of root on the server.",
  ],
  flags: [],
  async run(context, { words }) {
    const remote = context.remotes.chosen;
    if (remote === undefined) {
      throw usageFailure(`a tunnel leads to a remote, and ${context.endpoint} is none; name one with -r NAME`);
    }
    const pairs = words.map(readPortPair);
    const offered = await context.api.call(system);
    const ways = [
      { name: "API", local: 0, route: context.route, side: undefined },
      ...(offered.listeners ?? []).map(({ name, address }) => sideWay(context, remote, { name, local: 0, address })),
      ...pairs.map(({ local, remote: port }) =>
        sideWay(context, remote, { name: `port ${port}`, local, address: `${loopback}:${port}` }),
      ),
    ];
    return await holdWays(context, ways, (ports) => tell(context, ways, ports));
  },
};

/** A port of this machine that leads to an address of a remote. */
export interface Way {
  name: string;
  /** Port of this machine; 0 is any free one. */
  local: number;
  route: Route;
  /** What has to be taken away at the end. */
  side: SideRoute | undefined;
}

interface Offer {
  name: string;
  local: number;
  address: string;
}

/** An address that stands for every interface is reached on loopback. */
export function sideWay({ remotes }: Context, remote: Remote, { name, local, address }: Offer): Way {
  const reached = address.replace(/^(?:0\.0\.0\.0|\[::\]):/, `${loopback}:`);
  const route = sideRoute(remote, remotes.ways, { address: reached, port: Number(/\d+$/.exec(reached)?.[0] ?? 0) });
  return { name, local, route, side: route };
}

/** Opens the ways, tells their ports in their order, and holds them until Ctrl-C. */
export async function holdWays(
  context: Context,
  ways: readonly Way[],
  opened: (ports: readonly number[]) => void | Promise<void>,
): Promise<number> {
  const open = new Set<Duplex>();
  const listeners: LocalListener[] = [];
  try {
    for (const { side } of ways) await side?.open();
    for (const way of ways) listeners.push(listen(context, way, open));
    await opened(listeners.map(({ port }) => port));
    await untilInterrupted(context);
    return exitCodes.interrupted;
  } finally {
    for (const listener of listeners) listener.close();
    for (const connection of open) connection.terminate();
    for (const { side } of ways) await side?.close();
  }
}

function listen({ limits, signal, terminal }: Context, { local, route }: Way, open: Set<Duplex>): LocalListener {
  const highBytes = limits.forwardBytesMax;
  const onConnection = (connection: Duplex) => {
    if (open.size >= limits.forwardsMax) return connection.terminate();
    open.add(connection);
    relay(connection, route, highBytes)
      .catch((error: unknown) => {
        if (!signal.aborted) terminal.note(error instanceof Error ? printable(error.message) : String(error));
      })
      .finally(() => open.delete(connection));
  };
  return listenLocally({ address: loopback, port: local, highBytes, onConnection });
}

function tell(context: Context, ways: readonly Way[], ports: readonly number[]): void {
  const { route, terminal, json } = context;
  const addresses = ways.map(({ name }, index) => ({ name, url: `http://${loopback}:${ports[index] ?? 0}` }));
  const socket = `unix:${route.address.socket ?? ""}`;
  answer(context, { remote: context.endpoint, socket, addresses }, () =>
    listText([["API", socket], ...addresses.map(({ name, url }) => [printable(name), url])]),
  );
  if (!json) terminal.note(terminal.noteStyle.dim(`${printable(context.endpoint)} is connected until Ctrl-C`));
}

/** A connection that carries nothing would end by itself; one that broke is opened again by the request. */
async function untilInterrupted(context: Context): Promise<void> {
  const { api, clock, limits, signal, terminal } = context;
  let away = false;
  while (!signal.aborted) {
    await clock.sleep(limits.tunnel.holdMs, signal);
    if (signal.aborted) return;
    try {
      await api.call(health);
      if (away) terminal.note("the server is back");
      away = false;
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      if (!away && !signal.aborted) terminal.note(error.message);
      away = true;
    }
  }
}
