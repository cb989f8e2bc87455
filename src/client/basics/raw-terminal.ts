import { createByteQueue } from "../../base/words/byte-queue.ts";
import { inputIsTerminal, type Outputs } from "./output.ts";

interface TerminalSize {
  cols: number;
  rows: number;
}

/** The process's streams as bytes, and its terminal with the driver's help switched off. */
export interface RawTerminal {
  /** stdin is a terminal. */
  inputIsTerminal: boolean;
  /** Resolve when the bytes are out; reject when the reader has gone. */
  stdout(bytes: Uint8Array): Promise<void>;
  stderr(bytes: Uint8Array): Promise<void>;
  /** stdin as it comes; `stop` releases it. Once. */
  input(): { chunks: AsyncIterable<Uint8Array>; stop(): void };
  /** Size of stdout; undefined where it is not a terminal. */
  size(): TerminalSize | undefined;
  /** Calls back after each change of the size; returns the way to stop it. */
  onResize(listener: () => void): () => void;
  /**
   * Every key goes to the reader as it is, Ctrl-C too. Returns the way back, which is also taken when the process ends
   * by an error. A signal ends the command, which takes it.
   */
  enterRaw(): () => void;
  /** The other screen, without a cursor; the way back as with `enterRaw` brings back what was there before. */
  enterScreen(): () => void;
}

const inputBytesMax = 256 * 1024;

export function processTerminal({ stdout, stderr }: Outputs): RawTerminal {
  return {
    inputIsTerminal: inputIsTerminal(),
    stdout: stdout.write,
    stderr: stderr.write,
    input: readInput,
    size: () => {
      if (!stdout.isTerminal) return undefined;
      const { columns, rows } = process.stdout;
      return columns > 0 && rows > 0 ? { cols: columns, rows } : undefined;
    },
    onResize(listener) {
      if (!stdout.isTerminal) return () => undefined;
      process.stdout.on("resize", listener);
      return () => process.stdout.off("resize", listener);
    },
    enterRaw() {
      const { stdin } = process;
      if (!stdin.isTTY) return () => undefined;
      return enterUntilExit(
        () => enterRaw(stdin),
        () => stdin.setRawMode(false),
      );
    },
    enterScreen: () =>
      enterUntilExit(
        () => stdout.now("\x1b[?1049h\x1b[?25l"),
        () => stdout.now("\x1b[?25h\x1b[?1049l"),
      ),
  };
}

function readInput(): { chunks: AsyncIterable<Uint8Array>; stop(): void } {
  const { stdin } = process;
  const chunks = createByteQueue({
    highBytes: inputBytesMax,
    pause: () => void stdin.pause(),
    resume: () => void stdin.resume(),
  });
  const take = (chunk: Buffer) => chunks.push(chunk);
  const end = () => chunks.end();
  stdin.on("data", take).on("end", end).on("error", end);
  return {
    chunks,
    stop() {
      chunks.drop();
      stdin.off("data", take).off("end", end).off("error", end);
      stdin.pause();
      // An open pipe that says nothing must not keep the process; a file has no such hold.
      if ("unref" in stdin) stdin.unref();
    },
  };
}

/**
 * The platform's raw mode still adds a carriage return to each newline, which breaks the drawing of programs that have
 * switched that off on their side. The way back undoes both. Without `stty` it is as good as it can be.
 */
function enterRaw(stdin: NodeJS.ReadStream): void {
  stdin.setRawMode(true);
  if (Bun.which("stty") !== null) Bun.spawnSync(["stty", "-opost"], { stdin: "inherit", stdout: "ignore" });
}

function enterUntilExit(enter: () => void, leave: () => void): () => void {
  process.on("exit", leave);
  enter();
  return () => {
    leave();
    process.off("exit", leave);
  };
}
