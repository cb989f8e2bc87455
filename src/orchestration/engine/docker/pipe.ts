import type { Duplex } from "node:stream";
import { unreachable } from "./errors.ts";

/** A raw connection that is read when asked: who does not read makes the other side wait, and so does who does not take. */
export interface Pipe {
  /** The next bytes; undefined once the other side has finished. Rejects `unavailable` when the connection broke. */
  read(): Promise<Uint8Array | undefined>;
  /** Resolves when there is something to read, or the other side has finished. */
  arrival(): Promise<void>;
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
  /** Tells the write that is under way that the connection has ended. */
  giveUp: () => void;
}

export function pipeOf(socket: Duplex): Pipe {
  const state: State = {
    inbox: [],
    inboxBytes: 0,
    paused: false,
    abandoned: false,
    ended: false,
    fault: undefined,
    end: Promise.withResolvers(),
    arrival: Promise.withResolvers(),
    giveUp: () => undefined,
  };
  socket.on("data", (bytes: Uint8Array) => {
    if (state.abandoned) return;
    state.inbox.push(bytes);
    state.inboxBytes += bytes.length;
    if (state.inboxBytes > inboxBytesMax && !state.paused) {
      state.paused = true;
      socket.pause();
    }
    renew(state);
  });
  socket.on("end", () => {
    finished(state);
    socket.destroy();
  });
  socket.on("close", () => finished(state));
  socket.on("error", (error: Error) => {
    if (!state.ended) state.fault = unreachable(error.message, error);
    finished(state);
    socket.destroy();
  });
  return { ...reading(state, socket), ...writing(state, socket) };
}

function finished(state: State): void {
  state.ended = true;
  state.end.resolve();
  renew(state);
  state.giveUp();
}

function renew(state: State): void {
  state.arrival.resolve();
  state.arrival = Promise.withResolvers();
}

function reading(state: State, socket: Duplex): Pick<Pipe, "read" | "arrival" | "abandon"> {
  const resume = () => {
    if (!state.paused) return;
    state.paused = false;
    socket.resume();
  };
  return {
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
      renew(state);
    },
  };
}

function writing(state: State, socket: Duplex): Pick<Pipe, "write" | "finish" | "close" | "ended" | "end"> {
  let last: Promise<unknown> = Promise.resolve();
  return {
    write: (bytes) => {
      const sent = last.then(() => send(state, socket, bytes));
      last = sent;
      return sent;
    },
    finish: () => {
      last = last.then(() => state.ended || socket.end());
    },
    close: () => {
      finished(state);
      socket.destroy();
    },
    ended: () => state.ended,
    end: state.end.promise,
  };
}

function send(state: State, socket: Duplex, bytes: Uint8Array): Promise<boolean> | boolean {
  if (state.ended) return false;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  state.giveUp = () => resolve(false);
  socket.write(bytes, (error) => resolve(!error));
  return promise;
}
