import { Failure } from "../../../base/wire/failure.ts";
import type { Duplex } from "../../../base/words/duplex.ts";
import { podNameOk } from "../../core/identity.ts";
import type { ExecSession } from "../../engine/session.ts";
import type { Context } from "../state/context.ts";

interface ForwardRequest {
  name: string;
  /** As the caller wrote it. */
  port: string | undefined;
  actor: string;
}

/** Opens connections to ports of pods, so many at one time. */
export function createForwards(context: Context): (request: ForwardRequest) => Promise<ExecSession> {
  /** Open ones, by who opened what. */
  const open = new Map<string, number>();
  let count = 0;
  const change = (key: string, by: 1 | -1) => {
    const now = (open.get(key) ?? 0) + by;
    count += by;
    if (now === 0) open.delete(key);
    else open.set(key, now);
    return now;
  };
  return async ({ name, port: text, actor }) => {
    const { engine, link, limits } = context;
    if (!podNameOk(name)) throw new Failure("invalid", `bad pod name "${name}"`);
    const port = readPort(text);
    link.require();
    if (count >= limits.forwardsMax) {
      const most = `${limits.forwardsMax} connections to ports of pods are open already; close one, or try again later`;
      throw new Failure("too_many", most);
    }
    const key = JSON.stringify([name, port, actor]);
    const isFirst = change(key, 1) === 1;
    const closed = () => void change(key, -1);
    try {
      const options = { highBytes: limits.forwardBytesMax, limitMs: limits.forwardMs };
      const connection = await engine.dial(engine.named(name), port, options);
      void connection.closed.then(closed);
      // A browser opens dozens: the log has one entry for all that are open together.
      if (isFirst) record(context, { name, port, actor });
      const id = Buffer.from(context.randomBytes(8)).toString("hex");
      return sessionOf(connection, { id, what: `port ${port} of ${name}` });
    } catch (error) {
      closed();
      throw error;
    }
  };
}

function readPort(text: string | undefined): number {
  const port = /^\d{1,5}$/.test(text ?? "") ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new Failure("invalid", `query port: ${text === undefined ? "is required" : `"${text}" is not 1 to 65535`}`);
}

/** A connection in the shape of a command: what is written goes there, output is what comes back. */
function sessionOf(connection: Duplex, { id, what }: { id: string; what: string }): ExecSession {
  const requireWhole = () => {
    if (connection.broken) throw new Failure("unavailable", `the connection to ${what} broke off`);
  };
  return {
    id,
    output: outputOf(connection),
    async write(bytes) {
      if (!(await connection.write(bytes))) throw new Failure("conflict", `the connection to ${what} has ended`);
    },
    endInput: () => connection.finish(),
    resize: async () => undefined,
    async exitCode() {
      await connection.closed;
      requireWhole();
      return 0;
    },
    async kill() {
      connection.terminate();
    },
  };
}

/** An empty part at the end says that the pod has finished: the client may still send. */
async function* outputOf(connection: Duplex): ExecSession["output"] {
  for await (const bytes of connection.incoming) yield { stream: "stdout", bytes };
  if (!connection.broken) yield { stream: "stdout", bytes: new Uint8Array(0) };
}

function record(context: Context, { name, port, actor }: { name: string; port: number; actor: string }): void {
  const detail = { pod: name, port };
  context.store
    .write((tx) =>
      tx.events.append(
        { actor, action: "pod.forward", ...context.pods.byName(name)?.key, detail },
        context.clock.now(),
      ),
    )
    .catch((error: unknown) => context.log.error("event not written", { action: "pod.forward", error }));
}
