import { Failure } from "../../../base/wire/failure.ts";
import { checkByExec, checkCharsMax } from "../check.ts";
import type { Engine } from "../engine.ts";
import type { PodRef } from "../pod.ts";
import type { Checked, ExecSession } from "../session.ts";

/** A shell that stays in a container and runs one command at each line of its input. */
interface Shell {
  session: ExecSession;
  output: AsyncIterator<{ bytes: Uint8Array }>;
}

/** Where the shell of a container and command is, or is being opened. */
interface Place {
  key: string;
  shell: Shell | undefined;
  busy: boolean;
}

/**
 * The shell reads a mark, runs the command, and prints the mark with the exit code. `exec` runs programs only, as the engine
 * does, and no builtin. The shell discards its own standard error, such as "Hangup": it is not output of the command. The trap
 * keeps the shell alive when a command ends its process group; the end of its input ends it. The name of its variable is one
 * that no container has, or the command would get another value. The mark is printed in one piece, as processes that the
 * command left behind may print too. The empty line at the start tells that the shell runs.
 */
const loop = `exec 2>/dev/null
trap : INT TERM
echo
while read -r _check_mark; do
  (exec "$@") </dev/null 2>&1
  echo "
$_check_mark $?"
done`;

/** One for each probe of a container: they may have one command, and the same turn. */
const placesMax = 3;
const withoutShellMax = 1_000;

/** A shell could not run the command: an exec tells why, as far as the engine knows. */
const shellRefusals = [126, 127];

/**
 * `check` for commands that run again and again, as probes do. An exec costs the engine some 50 ms of CPU; a shell that
 * stays open makes each check after the first one cost little more than its command. Without `sh` in the image, each
 * check is an exec.
 */
export function createCheck({ exec }: Pick<Engine, "exec">): Pick<Engine, "check"> {
  const places = new Map<string, Set<Place>>();
  const withoutShell = new Set<string>();

  /** Containers come and go: those that are still there are asked once more. */
  function noteWithoutShell(id: string): void {
    if (withoutShell.size >= withoutShellMax) withoutShell.clear();
    withoutShell.add(id);
  }

  /** A place that is busy from now on; undefined when all are. */
  function take(key: string): Place | undefined {
    const known = places.get(key) ?? new Set();
    for (const place of known) if (!place.busy) return Object.assign(place, { busy: true });
    if (known.size >= placesMax) return undefined;
    const place = { key, shell: undefined, busy: true };
    places.set(key, known.add(place));
    return place;
  }

  function leave(place: Place): void {
    place.busy = false;
    const known = places.get(place.key);
    if (place.shell === undefined && known?.delete(place) === true && known.size === 0) places.delete(place.key);
  }

  async function open(place: Place, pod: PodRef, command: string[]): Promise<void> {
    const argv = ["sh", "-c", loop, "sh", ...command];
    const session = await exec(pod, { command: argv, env: [], tty: false, interactive: true });
    const shell: Shell = { session, output: session.output[Symbol.asyncIterator]() };
    place.shell = shell;
    // Also with its container, or when the engine went away and left the process behind.
    const over = () => drop(place, shell);
    void session.exitCode().then(over, over);
  }

  function drop(place: Place, shell: Shell | undefined): void {
    shell?.session.kill().catch(() => undefined);
    if (place.shell !== shell) return;
    place.shell = undefined;
    if (!place.busy) leave(place);
  }

  async function ask(place: Place, signal: AbortSignal): Promise<Checked | undefined> {
    const { shell } = place;
    if (shell === undefined) return undefined;
    const give = () => drop(place, shell);
    signal.addEventListener("abort", give, { once: true });
    try {
      const mark = crypto.randomUUID();
      await shell.session.write(Buffer.from(`${mark}\n`));
      return await readCheck(shell, mark);
    } catch {
      return undefined;
    } finally {
      signal.removeEventListener("abort", give);
    }
  }

  async function viaShell(pod: PodRef, command: string[], signal: AbortSignal): Promise<Checked | undefined> {
    const place = take(JSON.stringify([pod.id, command]));
    if (place === undefined) return undefined;
    try {
      const checked = await ask(place, signal);
      signal.throwIfAborted();
      if (checked !== undefined) return checked;
      // There was no shell, or it had ended meanwhile.
      drop(place, place.shell);
      await open(place, pod, command);
      // Nothing else would end it: the caller is gone.
      if (signal.aborted) drop(place, place.shell);
      signal.throwIfAborted();
      return await ask(place, signal);
    } finally {
      leave(place);
    }
  }

  return {
    async check(pod, command, signal) {
      const { id: nameOrId } = pod;
      if (!withoutShell.has(nameOrId)) {
        try {
          const checked = await viaShell(pod, command, signal);
          signal.throwIfAborted();
          if (checked !== undefined && !shellRefusals.includes(checked.exitCode)) return checked;
        } catch (error) {
          if (!isRefusal(error)) throw error;
          // Anything else is wrong with the exec below, too, which says so.
          if (/executable file not found|no such file/i.test(error.message)) noteWithoutShell(nameOrId);
        }
      }
      return checkByExec((spec) => exec(pod, spec), command, signal);
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
