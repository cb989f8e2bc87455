import { Failure } from "../../../base/wire/failure.ts";
import { checkByExec, checkCharsMax } from "../check.ts";
import type { Runtime } from "../runtime.ts";
import type { Checked, ExecSession } from "../session.ts";

/** A shell that stays in a container and runs one command at each line of its input. */
interface Shell {
  session: ExecSession;
  output: AsyncIterator<{ bytes: Uint8Array }>;
  busy: boolean;
}

/**
 * Reads a mark, runs the command, and prints the mark with the exit code. `exec` runs programs only, as the engine does,
 * and no builtin. What the shell itself says, such as "Hangup", is no output of the command. It ends with its input.
 */
const loop = `exec 2>/dev/null
while read -r mark; do
  (exec "$@") </dev/null 2>&1
  code=$?
  echo
  echo "$mark $code"
done`;

const withoutShellMax = 1_000;

/** A shell could not run the command: an exec tells why, as far as the engine knows. */
const shellRefusals = [126, 127];

/**
 * `check` for commands that run again and again, as probes do. An exec costs the engine some 50 ms of CPU; a shell that
 * stays open makes each check after the first one cost little more than its command. Without `sh` in the image, each
 * check is an exec.
 */
export function createCheck({ exec }: Pick<Runtime, "exec">): Pick<Runtime, "check"> {
  const shells = new Map<string, Shell>();
  const withoutShell = new Set<string>();

  /** Containers come and go: those that are still there are asked once more. */
  function noteWithoutShell(id: string): void {
    if (withoutShell.size >= withoutShellMax) withoutShell.clear();
    withoutShell.add(id);
  }

  async function open(id: string, key: string, command: string[]): Promise<Shell> {
    const argv = ["sh", "-c", loop, "sh", ...command];
    const session = await exec(id, { command: argv, env: [], tty: false, interactive: true });
    const shell: Shell = { session, output: session.output[Symbol.asyncIterator](), busy: false };
    shells.set(key, shell);
    // Also with its container, or when the engine went away and left the process behind.
    const over = () => drop(key, shell);
    void session.exitCode().then(over, over);
    return shell;
  }

  function drop(key: string, shell: Shell): void {
    if (shells.get(key) === shell) shells.delete(key);
    shell.session.kill().catch(() => undefined);
  }

  async function ask(key: string, shell: Shell, signal: AbortSignal): Promise<Checked | undefined> {
    const give = () => drop(key, shell);
    signal.addEventListener("abort", give, { once: true });
    shell.busy = true;
    try {
      const mark = crypto.randomUUID();
      await shell.session.write(Buffer.from(`${mark}\n`));
      return await readCheck(shell, mark);
    } catch {
      return undefined;
    } finally {
      shell.busy = false;
      signal.removeEventListener("abort", give);
    }
  }

  async function viaShell(id: string, command: string[], signal: AbortSignal): Promise<Checked | undefined> {
    const key = JSON.stringify([id, command]);
    const known = shells.get(key);
    if (known?.busy === true) return undefined;
    const checked = known && (await ask(key, known, signal));
    signal.throwIfAborted();
    if (checked !== undefined) return checked;
    // The shell had ended meanwhile.
    if (known !== undefined) drop(key, known);
    const shell = await open(id, key, command);
    // Nothing else would end it: the caller is gone.
    if (signal.aborted) drop(key, shell);
    signal.throwIfAborted();
    return ask(key, shell, signal);
  }

  return {
    async check(nameOrId, command, signal) {
      if (!withoutShell.has(nameOrId)) {
        try {
          const checked = await viaShell(nameOrId, command, signal);
          signal.throwIfAborted();
          if (checked !== undefined && !shellRefusals.includes(checked.exitCode)) return checked;
        } catch (error) {
          if (!isRefusal(error)) throw error;
          // Anything else is wrong with the exec below, too, which says so.
          if (/executable file not found|no such file/i.test(error.message)) noteWithoutShell(nameOrId);
        }
      }
      return checkByExec((spec) => exec(nameOrId, spec), command, signal);
    },
  };
}

function isRefusal(error: unknown): error is Failure {
  return error instanceof Failure && error.code === "conflict";
}

/** What came before the mark, and the exit code behind it; undefined when the shell ended before. */
async function readCheck({ output }: Shell, mark: string): Promise<Checked | undefined> {
  const decoder = new TextDecoder();
  const end = new RegExp(`\n${mark} (\\d+)\n`);
  let head = "";
  let tail = "";
  for (;;) {
    const { value, done } = await output.next();
    if (done === true) return undefined;
    const text = decoder.decode(value.bytes, { stream: true });
    tail += text;
    const found = end.exec(tail);
    if (head.length < checkCharsMax) head += text;
    if (found !== null) {
      const said = head.split(`\n${mark} `)[0] ?? "";
      return { exitCode: Number(found[1]), output: said.trim().slice(0, checkCharsMax) };
    }
    // The mark may come in pieces.
    tail = tail.slice(-tailChars);
  }
}

const tailChars = 64;
