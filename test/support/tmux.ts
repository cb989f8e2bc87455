import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from "./wait.ts";

/** A shell in a tmux of its own, in which commands are typed as a person would. */
export interface Tmux extends AsyncDisposable {
  /**
   * Types the lines of one command, waits for the next prompt, and returns what was shown between. `answers` are typed
   * when the screen shows their question.
   */
  type(command: string, answers?: readonly Answer[]): Promise<Shown>;
}

export interface Answer {
  question: string;
  answer: string;
}

export interface Shown {
  exitCode: number;
  /** Lines of the terminal without trailing blanks. */
  text: string;
}

export interface TmuxOptions {
  /** The files of tmux, and the home of the shell, in which it starts. */
  folder: string;
  env: Record<string, string>;
  /** For one command. */
  timeoutMs: number;
}

/** A prompt has a number, so that it is found whatever a command prints, and the exit code of the command before it. */
const prompt = (number: number) => new RegExp(`^\\[${number}, (\\d+)\\] \\$`, "m");

export async function startTmux({ folder, env, timeoutMs }: TmuxOptions): Promise<Tmux> {
  mkdirSync(folder, { recursive: true });
  const argv = ["tmux", "-f", "/dev/null", "-S", join(folder, "tmux.sock")];
  const variables = {
    ...{ PATH: process.env.PATH ?? "", LANG: "C.UTF-8", TERM: "screen", HOME: folder, ...env },
    ...{ PROMPT_COMMAND: "n=$((n+1))", PS1: "[$n, $?] $ ", PS2: "> ", HISTFILE: "" },
  };
  const tmux = async (...args: string[]) => {
    const run = Bun.spawn([...argv, ...args], { env: variables, cwd: folder, stdin: "ignore", stderr: "pipe" });
    const [text, error] = await Promise.all([run.stdout.text(), run.stderr.text()]);
    if ((await run.exited) !== 0) throw new Error(`tmux ${args[0]}: ${error}`);
    return text;
  };
  // Lines that are longer than the window are joined again by -J.
  const shown = () => tmux("capture-pane", "-p", "-J", "-S", "-");
  const since = (text: string, number: number) => text.slice(prompt(number).exec(text)?.index ?? 0);
  let number = 1;
  const until = async (what: string, found: (text: string) => boolean) => {
    let last = "";
    const look = async () => {
      last = since(await shown(), number);
      return found(last);
    };
    await waitFor(what, look, timeoutMs).catch((error: unknown) => {
      throw new Error(`the terminal shows:\n${last.trimEnd()}`, { cause: error });
    });
  };

  // Given word by word, it is started without a shell in between, which would drop PS1.
  await tmux("new-session", "-d", "-x", "150", "-y", "50", "bash", "--norc", "--noprofile", "-i");
  await until("the first prompt", (text) => prompt(1).test(text));
  return {
    async type(command, answers = []) {
      for (const line of command.split("\n")) {
        await tmux("send-keys", "-l", "--", line);
        await tmux("send-keys", "Enter");
      }
      for (const { question, answer } of answers) {
        await until(`"${question}"`, (text) => text.includes(question) || prompt(number + 1).test(text));
        await tmux("send-keys", "-l", "--", answer);
        await tmux("send-keys", "Enter");
      }
      await until(`the end of ${command}`, (text) => prompt(number + 1).test(text));
      const text = since(await shown(), number);
      number += 1;
      const next = prompt(number).exec(text);
      const lines = text.slice(0, next?.index).split("\n");
      return { exitCode: Number(next?.[1]), text: lines.map((line) => line.trimEnd()).join("\n") };
    },
    async [Symbol.asyncDispose]() {
      await tmux("kill-server");
    },
  };
}
