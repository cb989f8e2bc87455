import { type ExecOutcome, execInPod, type ExecRequest } from "./exec.ts";
import { collectOutput } from "./exec-output.ts";
import { execFault, type ExecStream, openExec } from "./exec-stream.ts";

/** Reads how many words follow, a line each, runs them as a command, and says on both outputs that it has ended. */
const loop = `while read -r _mark _count; do
  set --
  while [ "$_count" -gt 0 ]; do
    IFS= read -r _word
    set -- "$@" "$_word"
    _count=$((_count - 1))
  done
  "$@" </dev/null
  _code=$?
  printf '\\n%s %s\\n' "$_mark" "$_code"
  printf '\\n%s\\n' "$_mark" >&2
done`;

/** A command that runs below a shell. */
interface Run {
  take(output: "stdout" | "stderr", bytes: Uint8Array): void;
  /** `how` is an error, or what happened in words. */
  fail(how: unknown): void;
}

interface Shell {
  /** Undefined until it is open. */
  stream: ExecStream | undefined;
  run: Run | undefined;
}

/**
 * Runs commands in pods as `execInPod` does, below a shell in each pod that stays open until this process ends: an exec costs
 * the machine 100 ms of CPU, and a promotion asks each pod many times. A command with an input of its own, and one that
 * comes while another runs in the pod, gets an exec of its own.
 */
export function createPodShells(endpoint: string): (request: ExecRequest) => Promise<ExecOutcome> {
  const shells = new Map<string, Shell>();
  const finish = () => {
    for (const { stream } of shells.values()) stream?.finish();
  };

  function drop(pod: string, shell: Shell): void {
    if (shells.get(pod) === shell) shells.delete(pod);
    shell.stream?.close();
  }

  async function open(shell: Shell, { pod }: ExecRequest, input: Uint8Array): Promise<void> {
    const over = (how: unknown) => {
      shell.run?.fail(how);
      drop(pod, shell);
    };
    const target = { pod, command: ["sh", "-c", loop], input, isAll: false };
    process.off("beforeExit", finish).once("beforeExit", finish);
    shell.stream = await openExec(endpoint, target, {
      output: (name, bytes) => shell.run?.take(name, bytes),
      exit: () => over("broke off before the command had ended"),
      broken: over,
    });
  }

  async function runIn(shell: Shell, request: ExecRequest): Promise<ExecOutcome> {
    const { pod, command, timeoutMs } = request;
    const { promise, resolve, reject } = Promise.withResolvers<ExecOutcome>();
    promise.catch(() => undefined);
    const fail = (how: unknown) => {
      reject(execFault(request, how));
      drop(pod, shell);
    };
    const mark = crypto.randomUUID();
    const timer = setTimeout(() => fail(`took longer than ${timeoutMs / 1000} seconds`), timeoutMs);
    shell.run = { take: reader(request, mark, { resolve, fail }), fail };
    try {
      const input = Buffer.from(`${[`${mark} ${command.length}`, ...command].join("\n")}\n`);
      shell.stream?.hold(true);
      if (shell.stream === undefined) await open(shell, request, input);
      else shell.stream.write(input);
      return await promise;
    } catch (error) {
      drop(pod, shell);
      throw error;
    } finally {
      clearTimeout(timer);
      shell.run = undefined;
      shell.stream?.hold(false);
    }
  }

  return async (request) => {
    const known = shells.get(request.pod);
    const isLines = request.command.every((word) => !/[\n\0]/.test(word));
    if (request.stdin !== undefined || !isLines || known?.run !== undefined) return execInPod(endpoint, request);
    const shell = known ?? { stream: undefined, run: undefined };
    shells.set(request.pod, shell);
    return runIn(shell, request);
  };
}

interface Ends {
  resolve(outcome: ExecOutcome): void;
  fail(how: string): void;
}

/** Takes what a command says, up to the mark on both outputs. */
function reader(request: ExecRequest, mark: string, { resolve, fail }: Ends): Run["take"] {
  const stdoutEnd = new RegExp(`\n${mark} (\\d+)\n`);
  const stderrEnd = `\n${mark}\n`;
  let tail = "";
  let exitCode: number | undefined;
  let isStderrOver = false;
  // The line break before the mark may end no line.
  const onLine = (line: string) => {
    if (line === mark) isStderrOver = true;
    else if (line !== "") request.progress?.(line);
  };
  const kept = collectOutput(onLine, fail);
  return (name, bytes) => {
    kept[name](bytes);
    if (name === "stdout") {
      tail += Buffer.from(bytes).toString("latin1");
      const found = stdoutEnd.exec(tail)?.[1];
      if (found !== undefined) exitCode = Number(found);
      tail = tail.slice(-2 * mark.length);
    }
    if (exitCode === undefined || !isStderrOver) return;
    const { stdout, stderr } = kept.end();
    const end = stdout.lastIndexOf(`\n${mark} `);
    resolve({ exitCode, stdout: stdout.slice(0, end), stderr: stderr.slice(0, stderr.lastIndexOf(stderrEnd)) });
  };
}
