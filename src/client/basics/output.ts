import { fstatSync, type Stats, write, writeSync } from "node:fs";

/**
 * What the process writes to, without the platform's streams: setting those up takes longer than most commands. Output
 * to one and the same place keeps its order, also between stdout and stderr.
 */
export interface Output {
  /** Resolves when the bytes are out; rejects with an `OutputFailure` when the reader has gone, or there is no room. */
  write(bytes: Uint8Array): Promise<void>;
  /** Writes it when its turn comes. What fails is in `lost`. */
  later(text: string): void;
  /** Resolves when everything is out, with the first failure of `later`. */
  lost(): Promise<OutputFailure | undefined>;
  /** At once, past whatever waits: for the last words of a process. */
  now(text: string): void;
  isTerminal: boolean;
}

export interface Outputs {
  stdout: Output;
  stderr: Output;
}

export function openOutputs(): Outputs {
  const [out, err] = [statOf(1), statOf(2)];
  const stdout = createOutput(1, out, createLine());
  const together = out !== undefined && err !== undefined && out.dev === err.dev && out.ino === err.ino;
  return { stdout, stderr: together ? stdout : createOutput(2, err, createLine()) };
}

/** What could not be written to stdout or stderr, as a sentence. */
export class OutputFailure extends Error {
  constructor(
    readonly fd: 1 | 2,
    readonly code: string,
    options?: { cause: unknown },
  ) {
    super(`cannot write to ${fd === 1 ? "stdout" : "stderr"}: ${reasons[code] ?? code}`, options);
    this.name = "OutputFailure";
  }
}

const reasons: Record<string, string> = {
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file is as large as it may become",
  EIO: "input/output error",
};

function outputFailure(fd: 1 | 2, error: unknown): OutputFailure {
  const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
  return new OutputFailure(fd, code, { cause: error });
}

/** The reader has gone, or there never was one. */
export function isUnread(error: unknown): boolean {
  return error instanceof OutputFailure && (error.code === "EPIPE" || error.code === "EBADF");
}

/** Writes at once, and waits where a pipe is full. Answers with what went wrong. */
function writeNow(fd: 1 | 2, bytes: Uint8Array): OutputFailure | undefined {
  for (let from = 0; from < bytes.length;) {
    try {
      from += writeSync(fd, bytes, from);
    } catch (error) {
      const failure = outputFailure(fd, error);
      if (failure.code !== "EAGAIN") return failure;
      Bun.sleepSync(fullPauseMs);
    }
  }
  return undefined;
}

/** How commands write that need no terminal: at once. */
export const direct = { write: writeNow };

/** A line of a command that needs no terminal, at once. A reader that goes away is not an error. Throws `OutputFailure`. */
export function sayNow(line: string): void {
  const failure = direct.write(1, Buffer.from(`${line}\n`));
  if (failure !== undefined && !isUnread(failure)) throw failure;
}

/** Like `sayNow`, on stderr, where nothing is left to say what went wrong. */
export function complainNow(line: string): void {
  direct.write(2, Buffer.from(`${line}\n`));
}

/** Whether stdin is a terminal. */
export function inputIsTerminal(): boolean {
  return isTerminal(0, statOf(0));
}

type Line = <T>(work: () => Promise<T>) => Promise<T>;

/** One after the other, whatever becomes of those before. */
function createLine(): Line {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work, work);
    last = turn;
    return turn;
  };
}

function createOutput(fd: 1 | 2, stats: Stats | undefined, line: Line): Output {
  let lost: OutputFailure | undefined;
  const write = (bytes: Uint8Array) => line(() => writeAll(fd, bytes));
  return {
    write,
    later(text) {
      write(Buffer.from(text)).catch((error: unknown) => {
        if (error instanceof OutputFailure) lost ??= error;
      });
    },
    lost: () => line(() => Promise.resolve(lost)),
    now: (text) => void writeNow(fd, Buffer.from(text)),
    isTerminal: isTerminal(fd, stats),
  };
}

async function writeAll(fd: 1 | 2, bytes: Uint8Array): Promise<void> {
  let rest = bytes;
  while (rest.length > 0) rest = rest.subarray(await writeSome(fd, rest));
}

/** A pipe that somebody made non-blocking says that it is full. */
const fullPauseMs = 2;

function writeSome(fd: 1 | 2, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, (error, written) => {
      if (error === null) resolve(written);
      else if (error.code === "EAGAIN") setTimeout(() => resolve(0), fullPauseMs);
      else reject(outputFailure(fd, error));
    });
  });
}

/** A process can be started without any of the three. */
function statOf(fd: number): Stats | undefined {
  try {
    return fstatSync(fd);
  } catch {
    return undefined;
  }
}

const streams = () => [process.stdin, process.stdout, process.stderr] as const;

/** The platform is asked only where the kind of file leaves it open. */
function isTerminal(fd: 0 | 1 | 2, stats: Stats | undefined): boolean {
  if (stats?.isCharacterDevice() !== true) return false;
  return process.platform === "linux" && major(stats) === memoryDevices ? false : streams()[fd].isTTY === true;
}

/** /dev/null and the like. Source: the Linux kernel's list of device numbers. */
const memoryDevices = 1;

/** Source: makedev(3), the low part of a major number. */
function major({ rdev }: Stats): number {
  return (rdev >> 8) & 0xfff;
}
