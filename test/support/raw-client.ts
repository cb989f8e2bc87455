import type { Socket } from "bun";

/** A TCP or unix connection that a test writes bytes to, and whose answer it reads as text. */
export interface RawClient {
  send(text: string | Uint8Array): Promise<void>;
  /** FIN: nothing more will be sent. */
  finish(): void;
  /** Resets the connection. */
  abort(): void;
  pause(): void;
  resume(): void;
  /** Waits until what arrived so far satisfies `enough`, and returns it as latin1 text. */
  until(enough: (text: string) => boolean): Promise<string>;
  /** Waits until the server has finished (FIN or close) and returns everything. */
  all(): Promise<string>;
  /** Bytes received, also when `keep` is false. */
  readonly receivedBytes: number;
  readonly closed: boolean;
}

export type Address = { hostname: string; port: number } | { unix: string };

export function addressOf(text: string | undefined): Address {
  if (text === undefined) throw new Error("the server told no address");
  if (text.startsWith("unix:")) return { unix: text.slice("unix:".length) };
  const colon = text.lastIndexOf(":");
  return { hostname: text.slice(0, colon), port: Number(text.slice(colon + 1)) };
}

interface State {
  parts: Buffer[];
  receivedBytes: number;
  closed: boolean;
  unsent: Uint8Array;
  wake: (() => void)[];
}

/** With `keep: false` received bytes are counted and thrown away. */
export async function connectRaw(address: Address, options: { keep: boolean } = { keep: true }): Promise<RawClient> {
  const state: State = { parts: [], receivedBytes: 0, closed: false, unsent: new Uint8Array(0), wake: [] };
  const changed = () => {
    for (const wake of state.wake.splice(0)) wake();
  };
  const flush = (socket: Socket) => {
    const sent = Math.max(socket.write(state.unsent), 0);
    state.unsent = state.unsent.subarray(sent);
    changed();
  };
  const over = () => {
    state.closed = true;
    changed();
  };
  const handlers = {
    data(_socket: Socket, chunk: Buffer) {
      state.receivedBytes += chunk.length;
      if (options.keep) state.parts.push(chunk);
      changed();
    },
    drain: flush,
    end: over,
    close: over,
    error: over,
  };
  const socket =
    "unix" in address
      ? await Bun.connect({ ...address, allowHalfOpen: true, socket: handlers })
      : await Bun.connect({ ...address, allowHalfOpen: true, socket: handlers });
  const text = () => Buffer.concat(state.parts).toString("latin1");
  const wait = () => new Promise<void>((resolve) => state.wake.push(resolve));
  return {
    async send(data) {
      const bytes = typeof data === "string" ? Buffer.from(data, "latin1") : data;
      state.unsent = Buffer.concat([state.unsent, bytes]);
      flush(socket);
      while (state.unsent.length > 0 && !state.closed) await wait();
    },
    finish: () => socket.shutdown(),
    abort: () => socket.terminate(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    async until(enough) {
      while (!enough(text())) {
        if (state.closed) throw new Error(`closed after: ${JSON.stringify(text().slice(0, 500))}`);
        await wait();
      }
      return text();
    },
    async all() {
      while (!state.closed) await wait();
      return text();
    },
    get receivedBytes() {
      return state.receivedBytes;
    },
    get closed() {
      return state.closed;
    },
  };
}
