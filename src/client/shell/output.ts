import { fstatSync, type Stats, write, writeSync } from "node:fs";

/**
 * What the process writes to, without the platform's streams: setting those up takes longer than most commands. Output
 * to one and the same place keeps its order, also between stdout and stderr.
 */
export interface Output {
  /** Resolves when the bytes are out; rejects when nobody reads any more, and when there is no room. */
  write(bytes: Uint8Array): Promise<void>;
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

/** Nobody reads any more, or nobody ever did. */
export function isUnread(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EPIPE" || error.code === "EBADF");
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
  return {
    write: (bytes) => line(() => writeAll(fd, bytes)),
    now: (text) => void writeSync(fd, text),
    isTerminal: isTerminal(fd, stats),
  };
}

async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  let rest = bytes;
  while (rest.length > 0) rest = rest.subarray(await writeSome(fd, rest));
}

/** A pipe that somebody made non-blocking says that it is full. */
const fullPauseMs = 2;

function writeSome(fd: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, (error, written) => {
      if (error === null) resolve(written);
      else if (error.code === "EAGAIN") setTimeout(() => resolve(0), fullPauseMs);
      else reject(error);
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
