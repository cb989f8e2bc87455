import { direct } from "../../client/basics/output.ts";

/** Writes to stdout (1) or stderr (2), or answers false where that is not possible any more. */
export function writeAll(fd: 1 | 2, bytes: Uint8Array): boolean {
  return direct.write(fd, bytes) === undefined;
}

interface Relay {
  streams: readonly ReadableStream<Uint8Array>[];
  /** A line is sent after each such silence, so that a long step does not look like the end. */
  silenceMs: number;
  /** git has ended, or its reader has gone; called once. */
  gone: () => void;
}

/** Passes what a program prints to the push, until it ends. */
export async function relay({ streams, silenceMs, gone }: Relay): Promise<void> {
  const started = performance.now();
  let last = started;
  let isGone = false;
  const send = (bytes: Uint8Array) => {
    last = performance.now();
    if (!isGone && !writeAll(2, bytes)) end();
  };
  const end = () => {
    isGone = true;
    gone();
  };
  const git = process.ppid;
  const timer = setInterval(() => {
    if (!isGone && process.ppid !== git) end();
    if (performance.now() - last < silenceMs) return;
    send(Buffer.from(`… still at it after ${Math.round((performance.now() - started) / 1_000)} seconds\n`));
  }, silenceMs / 10);
  try {
    await Promise.all(
      streams.map(async (stream) => {
        for await (const part of stream) send(part);
      }),
    );
  } finally {
    clearInterval(timer);
  }
}
