import type { EngineAddress } from "./client.ts";
import { unreachable } from "./errors.ts";

/** A raw connection that is read when asked: who does not read makes the other side wait, and so does who does not take. */
export interface Pipe {
  /** The next bytes; undefined once the other side has finished. Rejects `unavailable` when the connection broke. */
  read(): Promise<Uint8Array | undefined>;
  /** Reads nothing for `ms`: what comes meanwhile waits in the system, and is then read at once. */
  gather(ms: number): Promise<void>;
  /** Resolves when there is something to read, or the other side has finished. */
  arrival(): Promise<void>;
  /** Puts bytes back: they are read next. */
  unread(bytes: Uint8Array): void;
  /** Resolves when the system has taken all the bytes, false when the connection has ended before. In order of the calls. */
  write(bytes: Uint8Array): Promise<boolean>;
  /** No more is written: half-close after what was written so far. Reading goes on. */
  finish(): void;
  /** The reader has gone: `read` says so from now on, and what still arrives is dropped, so that no writer waits for us. */
  abandon(): void;
  /** Ends it at once. What has arrived can still be read. */
  close(): void;
  /** The other side has finished, or the connection is closed. */
  ended(): boolean;
  /** Resolves when that is so. */
  readonly end: Promise<void>;
}

/** What is kept for a slow reader before the other side has to wait. */
const inboxBytesMax = 256 * 1024;

interface State {
  inbox: Uint8Array[];
  inboxBytes: number;
  paused: boolean;
  abandoned: boolean;
  ended: boolean;
  fault: Error | undefined;
  end: PromiseWithResolvers<void>;
  /** Replaced each time it is resolved: the code that waits looks again. */
  arrival: PromiseWithResolvers<void>;
  drain: PromiseWithResolvers<void>;
}

/** Fails `unavailable` when nothing answers there. */
export async function openPipe(address: EngineAddress): Promise<Pipe> {
  const state: State = {
    inbox: [],
    inboxBytes: 0,
    paused: false,
    abandoned: false,
    ended: false,
    fault: undefined,
    end: Promise.withResolvers(),
    arrival: Promise.withResolvers(),
    drain: Promise.withResolvers(),
  };
  const socket = await connect(address, callbacks(state)).catch((error: Error) => {
    const place = "socketPath" in address ? address.socketPath : `${address.host}:${address.port}`;
    throw unreachable("code" in error ? `connect ${error.code} ${place}` : error.message, error);
  });
  return { ...reading(state, socket), ...writing(state, socket) };
}

type Socket = Bun.Socket<undefined>;

function connect(address: EngineAddress, socket: Bun.SocketHandler<undefined>): Promise<Socket> {
  // Without half-open, the system would answer the other side's end with ours.
  const how = { allowHalfOpen: true, data: undefined, socket };
  return "socketPath" in address
    ? Bun.connect<undefined>({ ...how, unix: address.socketPath })
    : Bun.connect<undefined>({ ...how, hostname: address.host, port: address.port });
}

function callbacks(state: State): Bun.SocketHandler<undefined> {
  return {
    data: (socket, bytes) => {
      if (state.abandoned) return;
      state.inbox.push(bytes);
      state.inboxBytes += bytes.length;
      if (state.inboxBytes > inboxBytesMax && !state.paused) {
        state.paused = true;
        socket.pause();
      }
      renew(state, "arrival");
    },
    drain: () => renew(state, "drain"),
    end: (socket) => {
      finished(state);
      socket.terminate();
    },
    close: (_socket, error) => {
      if (!state.ended && error instanceof Error) state.fault = unreachable(error.message, error);
      finished(state);
    },
    error: (socket, error) => {
      state.fault ??= unreachable(error.message, error);
      finished(state);
      socket.terminate();
    },
  };
}

function finished(state: State): void {
  state.ended = true;
  state.end.resolve();
  renew(state, "arrival");
  renew(state, "drain");
}

function renew(state: State, what: "arrival" | "drain"): void {
  state[what].resolve();
  state[what] = Promise.withResolvers();
}

function reading(state: State, socket: Socket): Pick<Pipe, "read" | "gather" | "arrival" | "unread" | "abandon"> {
  const pause = () => {
    if (state.paused) return;
    state.paused = true;
    socket.pause();
  };
  const resume = () => {
    if (!state.paused) return;
    state.paused = false;
    socket.resume();
  };
  return {
    async gather(ms) {
      if (state.inbox.length > 0 || state.ended || state.abandoned) return;
      pause();
      await Bun.sleep(ms);
      resume();
    },
    read: async () => {
      while (state.inbox.length === 0 && !state.ended && !state.abandoned) await state.arrival.promise;
      const bytes = state.inbox.shift();
      state.inboxBytes -= bytes?.length ?? 0;
      if (state.inboxBytes <= inboxBytesMax / 2) resume();
      if (bytes === undefined && state.fault !== undefined && !state.abandoned) throw state.fault;
      return bytes;
    },
    arrival: async () => {
      if (state.inbox.length === 0 && !state.ended) await state.arrival.promise;
    },
    abandon: () => {
      state.abandoned = true;
      state.inbox = [];
      state.inboxBytes = 0;
      resume();
      renew(state, "arrival");
    },
    unread: (bytes) => {
      state.inbox.unshift(bytes);
      state.inboxBytes += bytes.length;
    },
  };
}

function writing(state: State, socket: Socket): Pick<Pipe, "write" | "finish" | "close" | "ended" | "end"> {
  let last: Promise<unknown> = Promise.resolve();
  return {
    write: (bytes) => {
      const sent = last.then(() => send(state, socket, bytes));
      last = sent;
      return sent;
    },
    finish: () => {
      last = last.then(() => state.ended || socket.shutdown());
    },
    close: () => {
      finished(state);
      socket.terminate();
    },
    ended: () => state.ended,
    end: state.end.promise,
  };
}

async function send(state: State, socket: Socket, bytes: Uint8Array): Promise<boolean> {
  let rest = bytes;
  while (!state.ended) {
    const drained = state.drain.promise;
    const taken = socket.write(rest);
    if (taken < 0) return false;
    rest = rest.subarray(taken);
    if (rest.length === 0) return true;
    await drained;
  }
  return false;
}
