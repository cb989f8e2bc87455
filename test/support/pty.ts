import { executable } from "./executable.ts";
import { waitFor } from "./wait.ts";

/** The executable on a terminal of its own. */
export interface OnTerminal {
  pid: number;
  /** Everything shown so far. */
  shown(): string;
  type(text: string): void;
  resize(cols: number, rows: number): void;
  until(what: string): Promise<void>;
  /** Whether the driver hands on each key as it is. */
  raw(): boolean;
  exited: Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

const canonical = 0o2;

export function onTerminal(args: string[], env: Record<string, string>, cwd?: string): OnTerminal {
  let shown = "";
  const terminal = new Bun.Terminal({
    cols: 100,
    rows: 30,
    data: (_terminal, bytes) => {
      shown += Buffer.from(bytes).toString();
    },
  });
  const child = Bun.spawn([executable, ...args], {
    terminal,
    env: { PATH: process.env.PATH ?? "", TERM: "xterm", ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  return {
    pid: child.pid,
    shown: () => shown,
    type: (text) => void terminal.write(text),
    resize(cols, rows) {
      terminal.resize(cols, rows);
      // The child has no controlling terminal that would do it.
      child.kill("SIGWINCH");
    },
    until: async (what) => {
      await waitFor(`${JSON.stringify(what)} in ${JSON.stringify(shown)}`, () => shown.includes(what));
    },
    raw: () => (terminal.localFlags & canonical) === 0,
    exited: child.exited,
    kill: (signal) => child.kill(signal),
  };
}
