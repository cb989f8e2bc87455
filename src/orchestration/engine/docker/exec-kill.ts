import { Failure } from "../../../base/wire/failure.ts";
import { systemClock } from "../../../base/words/clock.ts";
import type { DockerClient } from "./client.ts";
import { containerProcess, endTree, type Process } from "./process-tree.ts";

/** How an exec can be ended: the engine has no call for that, and does not do it when its client goes away. */
export type Killer = () => Promise<void>;

/** An exec to be ended from inside, because its processes cannot be reached from here. */
interface Marked {
  containerId: string;
  /** For messages: `container "web.1"`. */
  subject: string;
  execId: string;
  user: string | undefined;
  /** A row of its environment that no other process has: `KEY=value`. */
  mark: string;
}

/** `process` is the exec's own, undefined when it had ended already. */
export function killFromOutside(process: Process | undefined, graceMs: number): Killer {
  return async () => {
    if (process !== undefined) await endTree(process, graceMs);
  };
}

/** Whether the processes of a container can be seen and signalled from here. `pid` is the engine's, of any of them. */
export function isWithinReach(containerId: string, pid: number | undefined): boolean {
  return pid !== undefined && containerProcess(containerId, pid) !== undefined;
}

/** Needs `sh`, `tr` and `grep` in the container; fails `conflict` without them. */
export function killFromInside(engine: DockerClient, marked: Marked, graceMs: number): Killer {
  const signal = (name: string) => runInside(engine, marked, name);
  return async () => {
    if (!(await isRunning(engine, marked.execId))) return;
    if (!(await signal("HUP"))) return;
    for (let waited = 0; waited < graceMs; waited += pollMs) {
      await systemClock.sleep(Math.min(pollMs, graceMs - waited));
      if (!(await signal("0"))) return;
    }
    await signal("KILL");
  };
}

const pollMs = 500;

/** Ends with 1 when it finds no process. It runs as the exec's user, who may read the environment of what is to end. */
const script = `command -v tr >/dev/null && command -v grep >/dev/null || exit 3
found=1
for folder in /proc/[0-9]*; do
  if tr '\\0' '\\n' <"$folder/environ" 2>/dev/null | grep -qxF "$1"; then
    kill -"$2" "\${folder#/proc/}" 2>/dev/null && found=0
  fi
done
exit $found`;

async function runInside(engine: DockerClient, marked: Marked, signal: string): Promise<boolean> {
  const { containerId, subject, user, mark } = marked;
  const attempt = { verb: "end a command in", subject };
  const request = { Cmd: ["sh", "-c", script, "sh", mark, signal], User: user };
  const exec = await engine.call(attempt, (docker, abortSignal) =>
    docker.getContainer(containerId).exec({ _query: {}, _body: request, abortSignal } as object),
  );
  const answer = await engine.call(attempt, (_docker, abortSignal) =>
    exec.start({ _query: {}, _body: { Detach: true }, abortSignal } as object),
  );
  answer.resume();
  while (await isRunning(engine, exec.id)) await systemClock.sleep(20);
  const { ExitCode: code } = await readExec(engine, exec.id);
  if (code === 0 || code === 1) return code === 0;
  throw new Failure("conflict", `cannot ${attempt.verb} ${attempt.subject}: it lacks sh, tr or grep, which that takes`);
}

interface ExecState {
  Running: boolean;
  /** Null until it has ended. */
  ExitCode: number | null;
  /** The engine's, and 0 as long as the process has not started. */
  Pid: number;
}

export function readExec(engine: DockerClient, execId: string): Promise<ExecState> {
  return engine.call({ verb: "inspect", subject: "a command" }, (docker, abortSignal) => {
    // The published types leave out the options that dockerode takes here.
    const exec = docker.getExec(execId);
    const inspect: (options: object) => Promise<ExecState> = exec.inspect.bind(exec);
    return inspect({ abortSignal });
  });
}

async function isRunning(engine: DockerClient, execId: string): Promise<boolean> {
  return (await readExec(engine, execId)).Running;
}
