import { execFault, openExec } from "./exec-stream.ts";
import { collectOutput } from "./exec-output.ts";

export interface ExecRequest {
  pod: string;
  command: readonly string[];
  /** Written to the command's standard input, which then ends. For what must not stand in a process list. */
  stdin?: string | Uint8Array;
  /** Lines of standard error, as they come. */
  progress?: (line: string) => void;
  timeoutMs: number;
}

export interface ExecOutcome {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs a command in a pod to its end. Fails when the session breaks. */
export async function execInPod(endpoint: string, request: ExecRequest): Promise<ExecOutcome> {
  const { pod, command, stdin = "", timeoutMs, progress } = request;
  const { promise, resolve, reject } = Promise.withResolvers<ExecOutcome>();
  // The code below awaits it. If dialling fails, nothing does.
  promise.catch(() => undefined);
  const fail = (how: unknown) => reject(execFault(request, how));
  const kept = collectOutput(progress, fail);
  const target = { pod, command, input: Buffer.from(stdin), isAll: true };
  const stream = await openExec(endpoint, target, {
    output: (name, bytes) => kept[name](bytes),
    exit: (exitCode) => resolve({ exitCode, ...kept.end() }),
    broken: fail,
  });
  const timer = setTimeout(() => fail(`took longer than ${timeoutMs / 1000} seconds`), timeoutMs);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    stream.close();
  }
}
