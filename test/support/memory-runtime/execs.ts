import { Failure } from "../../../src/base/wire/failure.ts";
import type { AttachOptions, ExecSession, ExecSpec, TerminalSize } from "../../../src/orchestration/engine/session.ts";
import type { Bells } from "./bells.ts";
import { type Channel, createChannel } from "./channel.ts";
import type { ContainerTable } from "./container-table.ts";
import type { Machine } from "./containers.ts";
import { engineDown } from "./faults.ts";

export interface ExecCall {
  /** Name of the container. */
  container: string;
  spec: ExecSpec;
}

/** What a command has of its surroundings. */
export interface ExecIo {
  /** Until the other side has closed it; without `interactive`, nothing. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Resolves when there is room for more. */
  stdout(text: string | Uint8Array): Promise<void>;
  /** The same as `stdout` on a terminal. */
  stderr(text: string | Uint8Array): Promise<void>;
  size(): TerminalSize | undefined;
  /** Aborts when the command is killed, or its container ends. What it does after that is not seen by anyone. */
  readonly killed: AbortSignal;
}

/** A command; returns its exit code. */
export type ExecProgram = (io: ExecIo) => number | Promise<number>;

/** Picks what a command does; undefined when the container has no such program. A `Failure` that it throws refuses the exec. */
export type ExecHandler = (call: ExecCall) => ExecProgram | undefined;

/** Commands that run in containers. */
export interface Execs {
  /** Fails `not_found` and `conflict` as `Runtime.exec` says. */
  start(nameOrId: string, spec: ExecSpec): ExecSession;
  /** The program of a container that has just been started, connected to whoever asked; see `Runtime.startAttached`. */
  attach(nameOrId: string, options: AttachOptions, machine: Machine): ExecSession;
  /** Unless told otherwise, every command ends at once with 0 and says nothing. */
  onExec(handler: ExecHandler): void;
  /** Every session loses its connection; the commands go on. */
  breakAll(): void;
}

/** Writes on their way before the writer waits. */
const capacity = 16;
const hangupCode = 129;
const killedCode = 137;

export function createExecs(table: ContainerTable, bells: Bells): Execs {
  const world: World = { table, bells, handler: () => () => 0, started: 0, breaks: new Set() };
  return {
    start: (nameOrId, spec) => start(world, nameOrId, spec),
    attach: (nameOrId, options, machine) => attach(world, { nameOrId, options, machine }),
    onExec: (handler) => {
      world.handler = handler;
    },
    breakAll: () => {
      for (const cut of world.breaks) cut();
    },
  };
}

interface World {
  table: ContainerTable;
  bells: Bells;
  handler: ExecHandler;
  started: number;
  breaks: Set<() => void>;
}

function start(world: World, nameOrId: string, spec: ExecSpec): ExecSession {
  const entry = world.table.get(nameOrId);
  if (entry === undefined) throw new Failure("not_found", `container "${nameOrId}" does not exist`);
  const { id, name, state, pid } = entry.detail;
  const words = `cannot run "${spec.command[0] ?? ""}" in container "${nameOrId}"`;
  if (state !== "running") throw new Failure("conflict", `${words}: container is not running`);
  const program = world.handler({ container: name, spec });
  if (program === undefined)
    throw new Failure("conflict", `${words}: executable file not found`, { fields: { exit_code: 127 } });
  world.started += 1;
  const session = createSession(spec, { id: `exec-${world.started}`, words });
  world.breaks.add(session.cut);
  const { running } = session;
  void endWithContainer(world, { id, pid }, session);
  session.run(program);
  void running.then(() => world.breaks.delete(session.cut));
  return session.session;
}

interface Attaching {
  nameOrId: string;
  options: AttachOptions;
  machine: Machine;
}

/** The container ends with its program, and the program with its container, whose exit code counts. */
function attach(world: World, { nameOrId, options, machine }: Attaching): ExecSession {
  const entry = world.table.get(nameOrId);
  if (entry === undefined) throw new Failure("not_found", `container "${nameOrId}" does not exist`);
  const { detail, spec: made } = entry;
  const spec: ExecSpec = { ...options, command: made.command ?? [], env: [] };
  const words = `cannot start container "${nameOrId}"`;
  const program = world.handler({ container: detail.name, spec });
  if (program === undefined)
    throw new Failure("conflict", `${words}: executable file not found`, { fields: { exit_code: 127 } });
  machine.start(nameOrId);
  const { id, pid } = world.table.get(nameOrId)?.detail ?? detail;
  const session = createSession(spec, { id, words });
  const stop = () => session.stop(world.table.get(id)?.detail.exitCode ?? killedCode);
  world.breaks.add(session.cut);
  void endWithContainer(world, { id, pid }, { ...session, stop });
  session.run(program);
  void session.running.then((code) => {
    world.breaks.delete(session.cut);
    if (world.table.get(id)?.detail.pid === pid)
      machine.die(id, { exitCode: Number(code ?? killedCode), byHand: true });
  });
  const kill = async () => {
    if (world.table.get(id) !== undefined) machine.stop(id);
  };
  return { ...session.session, kill };
}

async function endWithContainer(
  { table, bells }: World,
  { id, pid }: { id: string; pid: number | undefined },
  { over, stop }: Session,
): Promise<void> {
  while (!over.aborted && table.get(id)?.detail.pid === pid) await bells.next(id, over);
  if (!over.aborted) stop(killedCode);
}

interface Session {
  session: ExecSession;
  run(program: ExecProgram): void;
  /** Ends the command with this exit code. */
  stop(code: number): void;
  /** The connection is lost. */
  cut(): void;
  running: Promise<unknown>;
  /** Aborts when the command has ended. */
  over: AbortSignal;
}

type Output = { stream: "stdout" | "stderr"; bytes: Uint8Array };

/** Both ends of a command: what the caller holds, and what runs. */
interface Command {
  spec: ExecSpec;
  id: string;
  /** Beginning of what is said of a refusal. */
  words: string;
  input: Channel<Uint8Array>;
  output: Channel<Output>;
  size: TerminalSize | undefined;
  killed: AbortController;
  over: AbortController;
  code: PromiseWithResolvers<number>;
  lost: boolean;
}

function createSession(spec: ExecSpec, { id, words }: { id: string; words: string }): Session {
  const command: Command = {
    spec,
    id,
    words,
    input: createChannel(capacity),
    output: createChannel(capacity),
    size: spec.size,
    killed: new AbortController(),
    over: new AbortController(),
    code: Promise.withResolvers(),
    lost: false,
  };
  if (!spec.interactive) command.input.end();
  return {
    stop: (exitCode) => stop(command, exitCode),
    over: command.over.signal,
    // Whoever does not ask for the exit code is not to be told of it.
    running: command.code.promise.catch(() => undefined),
    cut: () => {
      command.lost = true;
      command.output.end();
    },
    run: (program) => run(command, program),
    session: sessionOf(command),
  };
}

function stop({ code, killed, over, input, output }: Command, exitCode: number): void {
  code.resolve(exitCode);
  killed.abort();
  over.abort();
  input.end();
  output.end();
}

function run(command: Command, program: ExecProgram): void {
  const { spec, input, output, over } = command;
  const say = (stream: Output["stream"]) => async (text: string | Uint8Array) => {
    if (over.signal.aborted) return;
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    await output.push({ stream: spec.tty ? "stdout" : stream, bytes });
  };
  const io: ExecIo = {
    input: input.items,
    stdout: say("stdout"),
    stderr: say("stderr"),
    size: () => command.size,
    killed: command.killed.signal,
  };
  void Promise.resolve()
    .then(() => program(io))
    .then(
      (exitCode) => stop(command, exitCode),
      (error: unknown) => {
        command.code.reject(error);
        stop(command, killedCode);
      },
    );
}

function sessionOf(command: Command): ExecSession {
  const { id, words, input, output } = command;
  return {
    id,
    output: output.items,
    write: async (bytes) => {
      if (await input.push(bytes)) return;
      throw new Failure("conflict", `${words}: it has ended and takes no more input`);
    },
    endInput: input.end,
    resize: async (size) => {
      command.size = size;
    },
    exitCode: async () => {
      if (command.lost) throw engineDown();
      return command.code.promise;
    },
    kill: async () => stop(command, hangupCode),
  };
}
