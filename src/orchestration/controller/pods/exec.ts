import { spanTimes } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { ExecResult } from "../../api/exec.ts";
import { readExecBody } from "../../core/exec-request.ts";
import { podNameOk } from "../../core/identity.ts";
import type { ExecSession, ExecSpec } from "../../engine/session.ts";
import type { Context } from "../state/context.ts";
import type { ExecOptions, RunningExec } from "../requests.ts";
import { createFileRoom, type FilePlace, type FileRoom } from "./files.ts";
import { createForwards } from "./forward.ts";

/** Commands, ports and files of pods. */
interface ExecOperations {
  /**
   * Starts a command. Fails `invalid` for a bad name or body, `not_found` for a missing container, `conflict` for one
   * that does not run, or a user, folder or program that it does not have, `unavailable` without the engine.
   */
  execPod(name: string, body: unknown, options: ExecOptions): Promise<RunningExec>;
  execResult(name: string, id: string): ExecResult;
  /**
   * Connects to a port of a pod: input goes there, output comes from there, with an empty part where the pod has
   * finished. Fails as `execPod`, `conflict` where nothing listens, `too_many`.
   */
  forwardPort(name: string, options: { port: string | undefined; actor: string }): Promise<RunningExec>;
  statFile: FileRoom["stat"];
  readFiles: FileRoom["read"];
  /** Input is a tar archive; the exit code comes when all of it is there. Fails `conflict` for what is not a folder, `too_many`. */
  writeFiles(place: FilePlace, options: { actor: string }): Promise<RunningExec>;
}

/** Sessions under way, and how the last ones ended. */
export interface ExecRoom {
  operations: ExecOperations;
  /** Remembers a session of another making; what is returned stands for it from now on. */
  track(name: string, session: ExecSession): RunningExec;
  /** Ends every session; for when the server stops. */
  close(): Promise<void>;
}

interface Entry {
  name: string;
  startedAt: number;
  endedAt: number | undefined;
  exitCode: number | undefined;
}

export function createExecRoom(context: Context): ExecRoom {
  const sessions = new Map<string, ExecSession>();
  const results = new Map<string, Entry>();

  const forgetOldest = (kept: number) => {
    for (const id of results.keys()) {
      if (results.size <= kept) return;
      if (!sessions.has(id)) results.delete(id);
    }
  };
  const ended = (id: string, entry: Entry, exitCode: number | undefined) => {
    sessions.delete(id);
    entry.endedAt ??= context.clock.now();
    entry.exitCode = exitCode;
  };

  const track = (name: string, session: ExecSession): RunningExec => {
    const entry: Entry = { name, startedAt: context.clock.now(), endedAt: undefined, exitCode: undefined };
    sessions.set(session.id, session);
    results.set(session.id, entry);
    forgetOldest(context.limits.execResultsKept);
    return watched(session, (exitCode) => ended(session.id, entry, exitCode));
  };

  const forwards = createForwards(context);
  const files = createFileRoom(context);

  return {
    track,
    operations: {
      execPod: async (name, body, options) => track(name, await start(context, { name, body, options })),
      execResult: (name, id) => resultOf(results.get(id), name, id),
      forwardPort: async (name, options) => track(name, await forwards({ name, ...options })),
      statFile: files.stat,
      readFiles: files.read,
      writeFiles: async (place, options) => track(place.name, await files.write(place, options)),
    },
    async close() {
      await Promise.allSettled([...sessions.values()].map((session) => session.kill()));
    },
  };
}

interface Start {
  name: string;
  body: unknown;
  options: ExecOptions;
}

async function start(context: Context, { name, body, options }: Start): Promise<ExecSession> {
  const { link, engine } = context;
  if (!podNameOk(name)) throw new Failure("invalid", `bad pod name "${name}"`);
  const { actor, ...rest } = options;
  const spec = { ...readExecBody(body), ...rest };
  link.require();
  const session = await engine.exec(engine.named(name), spec);
  record(context, { name, actor, spec });
  return session;
}

/** How a session goes or went. Fails `not_found` for one that is not remembered. */
function resultOf(entry: Entry | undefined, name: string, id: string): ExecResult {
  if (entry === undefined || entry.name !== name) {
    throw new Failure("not_found", `no exec session "${id}" of "${name}" is remembered`);
  }
  const { startedAt, endedAt, exitCode } = entry;
  return {
    id,
    name,
    running: endedAt === undefined,
    ...spanTimes(startedAt, endedAt),
    ...(exitCode === undefined ? {} : { exit_code: exitCode }),
  };
}

/** Tells once how the session ended, whichever way that came to be known. */
function watched(session: ExecSession, onEnd: (exitCode: number | undefined) => void): ExecSession {
  return {
    ...session,
    async exitCode() {
      try {
        const exitCode = await session.exitCode();
        onEnd(exitCode);
        return exitCode;
      } catch (error) {
        onEnd(undefined);
        throw error;
      }
    },
  };
}

/**
 * Arguments may hold secrets, so only the program is named. Not waited for: a store that is full must not lock the
 * operator out of the pods.
 */
function record(context: Context, { name, actor, spec }: { name: string; actor: string; spec: ExecSpec }): void {
  const pod = context.pods.byName(name);
  const detail = { pod: name, program: spec.command[0], tty: spec.tty };
  context.store
    .write((tx) => tx.events.append({ actor, action: "pod.exec", ...pod?.key, detail }, context.clock.now()))
    .catch((error: unknown) => context.log.error("event not written", { action: "pod.exec", error }));
}
