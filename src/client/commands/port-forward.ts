import { ApiError, targetOf } from "../../base/wire/client.ts";
import type { Duplex } from "../../base/words/duplex.ts";
import { forwardPort } from "../../orchestration/api/forward.ts";
import { getPod } from "../../orchestration/api/pods.ts";
import { carry } from "../forward/connection.ts";
import { listenLocally, type LocalListener } from "../forward/listener.ts";
import { type PortPair, readPortPair } from "../forward/ports.ts";
import { choosePod } from "../session/choose-pod.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";

export const portForwardCommand: CommandBody = {
  usage: ["port-forward SCOPE/NAME[.REPLICA] [LOCAL:]REMOTE… [--address IP]"],
  examples: [
    "port-forward shop/db 5432  port 5432 of this machine leads to the database",
    "port-forward shop/db.1 15432:5432  another local port, and one replica",
    "port-forward web :3000  any free local port; it is printed",
  ],
  detail: [
    "Connections to the local ports go through the server to the ports of one replica: of several, the",
    "newest that is ready. Nothing is published. Ends with Ctrl-C, and with exit code 1 when the replica",
    "ends. A program that listens on 127.0.0.1 inside of its container is not reached.",
  ],
  flags: [{ name: "address", value: "IP", summary: "listen on this address (default: 127.0.0.1)" }],
  async run(context, args) {
    const [reference, ...words] = args.words;
    if (reference === undefined || words.length === 0) {
      throw usageFailure("say which pod and which port: port-forward SCOPE/NAME 5432");
    }
    const pairs = words.map(readPortPair);
    const pod = await runningPod(context, reference);
    const setup: Setup = { context, pod: pod.name, open: new Set() };
    const listeners: LocalListener[] = [];
    try {
      const address = args.value("address") ?? "127.0.0.1";
      for (const pair of pairs) listeners.push(listen(setup, pair, address));
      tell(setup, { pairs, listeners, address });
      return await untilEnd(setup, pod);
    } finally {
      for (const listener of listeners) listener.close();
      for (const connection of setup.open) connection.terminate();
    }
  },
};

interface Setup {
  context: Context;
  /** Its container name. */
  pod: string;
  open: Set<Duplex>;
}

interface Running {
  name: string;
  startedAt: string | undefined;
}

async function runningPod(context: Context, reference: string): Promise<Running> {
  const name = await choosePod(context, reference);
  const { pod } = await context.api.call(getPod, { params: { name } });
  if (!pod.running) throw new CommandFailure(`${name} does not run: it is ${pod.state.status}`);
  return { name, startedAt: pod.state.started_at };
}

function listen(setup: Setup, { local, remote }: PortPair, address: string): LocalListener {
  const { context, pod, open } = setup;
  const { route, headers, signal, limits, terminal } = context;
  const target = targetOf(forwardPort.path, { params: { name: pod }, query: { port: String(remote) } });
  const onConnection = (connection: Duplex) => {
    if (open.size >= limits.forwardsMax) {
      terminal.note(`refused a connection: ${limits.forwardsMax} are open already`);
      connection.terminate();
      return;
    }
    open.add(connection);
    carry(connection, { route, target, headers, signal, answerMs: limits.answerMs })
      .catch((error: unknown) => {
        if (signal.aborted) return;
        terminal.note(
          `${terminal.noteStyle.yellow("!")} ${printable(error instanceof Error ? error.message : String(error))}`,
        );
      })
      .finally(() => open.delete(connection));
  };
  return listenLocally({ address, port: local, highBytes: limits.forwardBytesMax, onConnection });
}

interface Opened {
  pairs: readonly PortPair[];
  listeners: readonly LocalListener[];
  address: string;
}

function tell({ context, pod }: Setup, { pairs, listeners, address }: Opened): void {
  const host = address.includes(":") ? `[${address}]` : address;
  const forwards = pairs.map(({ remote }, index) => ({ local: `${host}:${listeners[index]?.port ?? 0}`, remote }));
  answer(context, { pod, forwards }, () =>
    forwards.map(({ local, remote }) => `${local} → ${printable(pod)}:${remote}`).join("\n"),
  );
}

/** Looks at the replica now and then: without a connection nothing else would say that it is gone. */
async function untilEnd({ context, pod }: Setup, { startedAt }: Running): Promise<number> {
  const { clock, limits, signal } = context;
  for (;;) {
    await clock.sleep(limits.followMs, signal);
    if (signal.aborted) return exitCodes.interrupted;
    const why = await endOf(context, pod, startedAt);
    if (signal.aborted) return exitCodes.interrupted;
    if (why !== undefined) throw new CommandFailure(`${pod} ${why}: nothing is forwarded any more`);
  }
}

/** What became of the replica; undefined while it runs, and while the server does not say. */
async function endOf({ api }: Context, name: string, startedAt: string | undefined): Promise<string | undefined> {
  try {
    const { pod } = await api.call(getPod, { params: { name } });
    if (!pod.running) return `has ended (${pod.state.status})`;
    return pod.state.started_at === startedAt ? undefined : "was started again";
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return "is gone";
    if (error instanceof ApiError && error.status === 503) return undefined;
    throw error;
  }
}
