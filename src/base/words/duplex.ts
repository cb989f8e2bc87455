import { type ByteQueue, createByteQueue } from "./byte-queue.ts";

/** A connection whose two directions end by themselves, and that is read only as fast as its reader takes the bytes. */
export interface Duplex {
  /** Ends with the other side's FIN, and when the connection is gone: `broken` tells the two apart. */
  incoming: ByteQueue;
  /** Resolves when the system has taken the bytes: false when the connection is gone. In order of the calls. */
  write(bytes: Uint8Array): Promise<boolean>;
  /** FIN after what was written so far; reading goes on. */
  finish(): void;
  /** Ends it at once; the other side sees that it broke off. */
  terminate(): void;
  /** It is gone, and the other side had not finished before. */
  readonly broken: boolean;
  /** Resolves when both sides have finished, or it is gone. */
  readonly closed: Promise<void>;
}

interface Sides {
  socket: Bun.Socket<Held>;
  incoming: ByteQueue;
  /** Each side has sent its FIN. */
  ours: boolean;
  theirs: boolean;
  gone: boolean;
  broken: boolean;
  drain: PromiseWithResolvers<void>;
  closed: PromiseWithResolvers<void>;
}

/** What a socket holds once it is open. */
type Held = Sides | undefined;

/**
 * Handlers for a socket that is opened, or accepted, with `allowHalfOpen` and without `data`. At most about
 * `highBytes` wait for a slow reader.
 */
export function duplexHandlers(highBytes: number, onOpen: (duplex: Duplex) => void): Bun.SocketHandler<Held> {
  return {
    open(socket) {
      const sides = createSides(socket, highBytes);
      socket.data = sides;
      onOpen(duplexOf(sides));
    },
    data: ({ data: sides }, bytes) => sides?.incoming.push(bytes),
    drain: ({ data: sides }) => renewDrain(sides),
    end({ data: sides }) {
      if (sides === undefined) return;
      sides.theirs = true;
      sides.incoming.end();
      if (sides.ours) sides.socket.end();
    },
    // After our own FIN the platform says nothing of the other side's but this.
    close: ({ data: sides }, error) => over(sides, error !== undefined && error !== null),
    error: ({ data: sides }) => over(sides, true),
  };
}

function createSides(socket: Bun.Socket<Held>, highBytes: number): Sides {
  const incoming = createByteQueue({ highBytes, pause: () => socket.pause(), resume: () => socket.resume() });
  const flags = { ours: false, theirs: false, gone: false, broken: false };
  return { socket, incoming, ...flags, drain: Promise.withResolvers(), closed: Promise.withResolvers() };
}

function over(sides: Held, failed: boolean): void {
  if (sides === undefined || sides.gone) return;
  sides.gone = true;
  sides.broken = failed || !(sides.theirs || sides.ours);
  sides.incoming.end();
  sides.closed.resolve();
  renewDrain(sides);
}

function renewDrain(sides: Held): void {
  if (sides === undefined) return;
  sides.drain.resolve();
  sides.drain = Promise.withResolvers();
}

function duplexOf(sides: Sides): Duplex {
  let last: Promise<unknown> = Promise.resolve();
  return {
    incoming: sides.incoming,
    write(bytes) {
      const sent = last.then(() => send(sides, bytes));
      last = sent;
      return sent;
    },
    finish() {
      last = last.then(() => {
        if (sides.ours || sides.gone) return;
        sides.ours = true;
        if (sides.theirs) sides.socket.end();
        else sides.socket.shutdown();
      });
    },
    terminate() {
      over(sides, true);
      sides.socket.terminate();
    },
    get broken() {
      return sides.broken;
    },
    closed: sides.closed.promise,
  };
}

async function send(sides: Sides, bytes: Uint8Array): Promise<boolean> {
  let rest = bytes;
  while (!sides.gone && !sides.ours) {
    const drained = sides.drain.promise;
    rest = rest.subarray(Math.max(sides.socket.write(rest), 0));
    if (rest.length === 0) return true;
    await drained;
  }
  return false;
}
