import { type ByteQueue, createByteQueue } from "../../base/words/byte-queue.ts";
import type { Address } from "./endpoint.ts";

/** A connection to the server that carries more than one request and its answer. */
export interface ClientSocket {
  /** Ends when the server has finished, or the connection is gone. */
  incoming: ByteQueue;
  /** Resolves once the kernel has taken the bytes, or the connection is gone. */
  send(bytes: Uint8Array): Promise<void>;
  /** Ends the connection in a way that the server notices at once. */
  terminate(): void;
}

const incomingBytesMax = 1024 * 1024;

interface Sender {
  unsent: Uint8Array;
  gone: boolean;
  /** Ends when everything sent so far is out. */
  turn: Promise<void>;
  wake: (() => void) | undefined;
}

/** Rejects as the platform does when the server cannot be reached. */
export async function connectSocket(address: Address): Promise<ClientSocket> {
  const sender: Sender = { unsent: new Uint8Array(0), gone: false, turn: Promise.resolve(), wake: undefined };
  let socket: Bun.Socket | undefined;
  const incoming = createByteQueue({
    highBytes: incomingBytesMax,
    pause: () => socket?.pause(),
    resume: () => socket?.resume(),
  });
  const over = () => {
    sender.gone = true;
    incoming.end();
    wakeUp(sender);
  };
  const handlers = {
    data: (_socket: Bun.Socket, chunk: Uint8Array) => incoming.push(chunk),
    drain: (open: Bun.Socket) => flush(open, sender),
    end: over,
    close: over,
    error: over,
  };
  const opened = await dial(address, handlers);
  socket = opened;
  return {
    incoming,
    send(bytes) {
      sender.turn = sender.turn.then(() => sendAll(opened, sender, bytes));
      return sender.turn;
    },
    terminate: () => opened.terminate(),
  };
}

function dial({ baseUrl, socket: unix }: Address, socket: Bun.SocketHandler<undefined>): Promise<Bun.Socket> {
  if (unix !== undefined) return Bun.connect({ unix, socket, allowHalfOpen: true });
  const { hostname, port, protocol } = new URL(baseUrl);
  const tls = protocol === "https:";
  return Bun.connect({
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (tls ? 443 : 80) : Number(port),
    tls,
    socket,
    allowHalfOpen: true,
  });
}

async function sendAll(socket: Bun.Socket, sender: Sender, bytes: Uint8Array): Promise<void> {
  if (sender.gone) return;
  sender.unsent = bytes;
  flush(socket, sender);
  while (sender.unsent.length > 0 && !sender.gone) {
    await new Promise<void>((resolve) => {
      sender.wake = resolve;
    });
  }
}

function flush(socket: Bun.Socket, sender: Sender): void {
  const sent = Math.max(socket.write(sender.unsent), 0);
  sender.unsent = sender.unsent.subarray(sent);
  if (sender.unsent.length === 0) wakeUp(sender);
}

function wakeUp(sender: Sender): void {
  sender.wake?.();
  sender.wake = undefined;
}
