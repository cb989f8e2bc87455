import type { Naming } from "../../core/naming.ts";
import { once } from "../../../base/pure/once.ts";
import { systemClock } from "../../../base/words/clock.ts";
import type { InspectedPod } from "../pod.ts";
import type { Engine } from "../engine.ts";
import type { ExecSession, ExecSpec, TerminalSize } from "../session.ts";
import { pipeOutput } from "./demux.ts";
import { type DockerClient, speaks } from "./client.ts";
import type { Inspect } from "./containers.ts";
import { type Attempt, missing, refusal, timedOut } from "./errors.ts";
import { isWithinReach, type Killer, killFromInside, killFromOutside, readExec } from "./exec-kill.ts";
import { openConnection } from "./open-stream.ts";
import { type Pipe, pipeOf } from "./pipe.ts";
import { containerProcess } from "./process-tree.ts";

interface ExecParts {
  engine: DockerClient;
  names: Naming;
  inspect: Inspect;
  /** Longest time between the request and the start of the process. */
  startMs: number;
  /** Between SIGHUP and SIGKILL. */
  killGraceMs: number;
}

/** See `Engine.exec`. */
export function createExec(parts: ExecParts): Pick<Engine, "exec"> {
  return { exec: ({ id }, spec) => exec(parts, id, spec) };
}

/** What one exec is made of while it is set up. */
interface Setup extends ExecParts {
  attempt: Attempt;
  container: InspectedPod;
  spec: ExecSpec;
  /** Set when its processes can only be ended from inside, and are to be known there. */
  mark: string | undefined;
}

async function exec(parts: ExecParts, nameOrId: string, spec: ExecSpec): Promise<ExecSession> {
  const container = await parts.inspect(nameOrId);
  if (container === undefined) throw missing(`container "${nameOrId}"`);
  const attempt = { verb: `run "${spec.command[0] ?? ""}" in`, subject: `container "${nameOrId}"` };
  const mark = isWithinReach(container.id, container.pid) ? undefined : `${parts.names.envPrefix}_EXEC=${newMark()}`;
  const setup = { ...parts, attempt, container, spec, mark };
  const id = await createInstance(setup);
  const pipe = await open(setup, id);
  const sized = sizeAtOnce(setup, id);
  const pid = await started(setup, id, pipe).catch((error: unknown) => {
    pipe.close();
    throw error;
  });
  await sized;
  return session(setup, { id, pipe, pid });
}

/**
 * Sets the size on an engine that does not take it with the start: as soon as the command has begun, which the engine
 * itself waits for, and not only once its process was looked for.
 */
async function sizeAtOnce(setup: Setup, id: string): Promise<void> {
  const { engine, spec } = setup;
  if (!spec.tty || spec.size === undefined || speaks(await engine.apiVersion(), consoleSizeApi)) return;
  // A command that has ended, or never began, is reported by its start.
  await resizeTo(setup, id, spec.size).catch(() => undefined);
}

const newMark = () => crypto.randomUUID();

/** The console's size may be set beforehand since this version. */
const consoleSizeApi = "1.42";

async function consoleSize({ engine, spec }: Setup): Promise<{ ConsoleSize?: [number, number] }> {
  const { tty, size } = spec;
  if (!tty || size === undefined || !speaks(await engine.apiVersion(), consoleSizeApi)) return {};
  return { ConsoleSize: [size.rows, size.cols] };
}

async function createInstance(setup: Setup): Promise<string> {
  const { engine, attempt, container, spec, mark } = setup;
  const request = {
    Cmd: spec.command,
    Env: mark === undefined ? spec.env : [...spec.env, mark],
    Tty: spec.tty,
    AttachStdin: spec.interactive,
    AttachStdout: true,
    AttachStderr: true,
    WorkingDir: spec.workdir,
    User: spec.user,
    ...(await consoleSize(setup)),
  };
  const { id } = await engine.call(attempt, (docker, abortSignal) =>
    // Everything outside the body would be put into the URL, secrets of the environment included.
    docker.getContainer(container.id).exec({ _query: {}, _body: request, abortSignal } as object),
  );
  return id;
}

async function open(setup: Setup, id: string): Promise<Pipe> {
  const { engine, attempt, spec } = setup;
  const body = { Detach: false, Tty: spec.tty, ...(await consoleSize(setup)) };
  const request = { path: `/exec/${id}/start`, body };
  const pipe = pipeOf(await engine.call(attempt, (docker, signal) => openConnection(docker, { ...request, signal })));
  const { held } = engine;
  held.addEventListener("abort", pipe.close);
  void pipe.end.then(() => held.removeEventListener("abort", pipe.close));
  return pipe;
}

/** Pauses between two looks for the process. Most starts take longer than the first, and each look costs the engine CPU. */
const lookMsMin = 30;
const lookMsMax = 100;

/**
 * Waits for the process, and returns its pid as the engine knows it. Its first output is the sign that it runs; one that
 * says nothing is looked for. The engine tells of a user, a folder or a program that is not there only in what looks like
 * output; that the process never had a pid is what gives it away.
 */
async function started({ engine, attempt, spec, startMs }: Setup, id: string, pipe: Pipe): Promise<number> {
  const begin = performance.now();
  let isHeard = false;
  const heard = pipe.arrival().then(() => {
    isHeard = true;
  });
  for (let lookMs = lookMsMin; ; lookMs = Math.min(lookMs * 1.5, lookMsMax)) {
    const pause = systemClock.sleep(lookMs);
    // What has arrived stays: it would be a sign each time.
    await Promise.race([isHeard ? pipe.end : heard, pause]);
    const ended = pipe.ended();
    const state = await readExec(engine, id);
    if (state.Pid > 0) return state.Pid;
    if (ended && !state.Running) throw refusal({ status: undefined, words: await words(pipe, spec.tty) }, attempt);
    if (performance.now() - begin > startMs) throw timedOut(attempt, startMs);
    await pause;
  }
}

const wordsMax = 4096;

async function words(pipe: Pipe, tty: boolean): Promise<string> {
  let text = "";
  for await (const { bytes } of pipeOutput(pipe, tty)) {
    text += Buffer.from(bytes).toString();
    if (text.length > wordsMax) break;
  }
  return text.slice(0, wordsMax).replaceAll(/\s+/g, " ").trim() || "the engine does not say why";
}

interface Started {
  id: string;
  pipe: Pipe;
  pid: number;
}

function session(setup: Setup, { id, pipe, pid }: Started): ExecSession {
  const { engine, spec } = setup;
  const end = once(killer(setup, id, pid));
  return {
    id,
    output: pipeOutput(pipe, spec.tty),
    write: async (bytes) => {
      if (!(await pipe.write(bytes))) throw ended(setup);
    },
    endInput: pipe.finish,
    resize: (size) => resizeTo(setup, id, size),
    exitCode: async () => {
      await pipe.end;
      return exitCode(engine, id);
    },
    kill: async () => {
      const killed = end();
      pipe.abandon();
      // Closed only once the engine has noticed: of a client that goes before, it makes an exit code of its own.
      const over = new AbortController();
      const noticed = killed.then(() => Promise.race([pipe.end, systemClock.sleep(noticeMs, over.signal)]));
      await noticed.finally(() => {
        over.abort();
        pipe.close();
      });
    },
  };
}

/** Longer than the engine waits for the streams of a process that has ended. */
const noticeMs = 3_000;

function killer({ engine, attempt, container, spec, mark, killGraceMs }: Setup, execId: string, pid: number): Killer {
  if (mark === undefined) return killFromOutside(containerProcess(container.id, pid), killGraceMs);
  return killFromInside(
    engine,
    { containerId: container.id, subject: attempt.subject, execId, user: spec.user, mark },
    killGraceMs,
  );
}

function ended({ attempt }: Setup) {
  return refusal({ status: undefined, words: "it has ended and takes no more input" }, attempt);
}

/** A command that has ended has no terminal any more, which is fine. */
async function resizeTo({ engine, attempt }: Setup, id: string, { rows, cols }: TerminalSize): Promise<void> {
  try {
    await engine.call({ ...attempt, verb: "resize the terminal of a command in" }, (docker, abortSignal) =>
      docker.getExec(id).resize({ h: rows, w: cols, abortSignal }),
    );
  } catch (error) {
    if ((await readExec(engine, id)).Running) throw error;
  }
}

/** The output ends a moment before the engine knows the exit code, or long before, when a process closes it and goes on. */
async function exitCode(engine: DockerClient, id: string): Promise<number> {
  for (let pause = 5; ; pause = Math.min(pause * 2, 1_000)) {
    const { Running: running, ExitCode: code } = await readExec(engine, id);
    if (!running && code !== null) return code;
    await systemClock.sleep(pause);
  }
}
