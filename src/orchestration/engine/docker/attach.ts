import { Failure } from "../../../base/wire/failure.ts";
import type { Engine } from "../engine.ts";
import type { AttachOptions, ExecSession, TerminalSize } from "../session.ts";
import type { PodRef } from "../pod.ts";
import type { Inspect } from "./containers.ts";
import { pipeOutput } from "./demux.ts";
import type { DockerClient } from "./client.ts";
import { missing, refusal, unreachable } from "./errors.ts";
import { openConnection } from "./open-stream.ts";
import { type Pipe, pipeOf } from "./pipe.ts";

interface AttachParts {
  engine: DockerClient;
  inspect: Inspect;
  containers: Pick<Engine, "start" | "stop">;
  wait: Engine["wait"];
}

/** See `Engine.startAttached`. The connection comes first, so that no output is lost before it. */
export function createAttach(parts: AttachParts): Pick<Engine, "startAttached"> {
  return {
    async startAttached({ id: nameOrId }, options) {
      const container = await parts.inspect(nameOrId);
      if (container === undefined) throw missing(`container "${nameOrId}"`);
      const attached = { ...parts, container, nameOrId, options, held: parts.engine.held };
      const pipe = await connect(attached);
      try {
        await parts.containers.start(container);
        if (options.tty && options.size !== undefined) await resize(attached, options.size);
      } catch (error) {
        pipe.close();
        throw error;
      }
      return session(attached, pipe);
    },
  };
}

interface Attached extends AttachParts {
  container: PodRef;
  nameOrId: string;
  options: AttachOptions;
  /** Aborts when the engine hangs, or is closed. */
  held: AbortSignal;
}

async function connect({ engine, container: { id }, nameOrId, options, held }: Attached): Promise<Pipe> {
  const attempt = { verb: "attach to", subject: `container "${nameOrId}"` };
  const query = `stream=1&stdout=1&stderr=1${options.interactive ? "&stdin=1" : ""}`;
  const path = `/containers/${id}/attach?${query}`;
  const pipe = pipeOf(await engine.call(attempt, (docker, signal) => openConnection(docker, { path, signal })));
  held.addEventListener("abort", pipe.close);
  void pipe.end.then(() => held.removeEventListener("abort", pipe.close));
  return pipe;
}

/** A terminal whose process has ended has no size any more, which is fine. */
async function resize(
  { engine, inspect, container: { id }, nameOrId }: Attached,
  { rows, cols }: TerminalSize,
): Promise<void> {
  try {
    await engine.call({ verb: "resize the terminal of", subject: `container "${nameOrId}"` }, (docker, abortSignal) =>
      docker.getContainer(id).resize({ h: rows, w: cols, abortSignal }),
    );
  } catch (error) {
    if ((await inspect(id))?.state === "running") throw error;
  }
}

function session(attached: Attached, pipe: Pipe): ExecSession {
  const { engine, container, nameOrId, wait, options, held } = attached;
  let killed: Promise<void> | undefined;
  return {
    id: container.id,
    output: pipeOutput(pipe, options.tty),
    write: async (bytes) => {
      if (await pipe.write(bytes)) return;
      const attempt = { verb: "write to", subject: `container "${nameOrId}"` };
      throw refusal({ status: undefined, words: "it has ended and takes no more input" }, attempt);
    },
    endInput: pipe.finish,
    resize: (size) => resize(attached, size),
    exitCode: async () => {
      await pipe.end;
      const attempt = { verb: "wait for", subject: `container "${nameOrId}"` };
      // The end comes later from an engine that is restarted; one that hangs is not waited for.
      const end = await wait(container, held).catch((error: unknown) => {
        throw held.aborted ? engine.failure(unreachable("the connection broke off"), attempt) : error;
      });
      return end.exitCode;
    },
    kill: () => {
      killed ??= stop(attached).finally(pipe.close);
      pipe.abandon();
      return killed;
    },
  };
}

/** One that is gone already needs no stop. */
async function stop({ containers, container, options }: Attached): Promise<void> {
  try {
    await containers.stop(container, { graceMs: options.graceMs });
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "not_found") throw error;
  }
}
