/** A socket that keeps what the kernel did not take. The owner of its callbacks calls `flush` on drain. */
export interface BufferedSocket {
  /** Returns false when some bytes had to be kept: stop producing until `flush` returns true. */
  write(bytes: Uint8Array): boolean;
  /** Sends kept bytes; true when none are left. */
  flush(): boolean;
  /** No more writes will come: sends FIN once everything is out, then calls `onSent`. Reading goes on. */
  finish(onSent: () => void): void;
  /** Told by the owner when the peer's FIN arrived, so that our own closes the socket. */
  peerFinished(): void;
  /** Closes at once, unsent bytes are lost. */
  terminate(): void;
  pause(): void;
  resume(): void;
  readonly unsentBytes: number;
}

interface Outbox {
  unsent: Uint8Array[];
  unsentBytes: number;
  peerFinished: boolean;
  onSent: (() => void) | undefined;
}

export function createBufferedSocket<T>(socket: Bun.Socket<T>): BufferedSocket {
  const outbox: Outbox = { unsent: [], unsentBytes: 0, peerFinished: false, onSent: undefined };
  return {
    get unsentBytes() {
      return outbox.unsentBytes;
    },
    write(bytes) {
      const sent = outbox.unsentBytes === 0 ? Math.max(socket.write(bytes), 0) : 0;
      if (sent < bytes.length) keep(outbox, bytes.subarray(sent));
      return outbox.unsentBytes === 0;
    },
    flush: () => flush(socket, outbox),
    finish(onSent) {
      outbox.onSent = onSent;
      flush(socket, outbox);
    },
    peerFinished() {
      outbox.peerFinished = true;
    },
    terminate: () => socket.terminate(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
  };
}

function keep(outbox: Outbox, bytes: Uint8Array): void {
  outbox.unsent.push(bytes);
  outbox.unsentBytes += bytes.length;
}

function flush<T>(socket: Bun.Socket<T>, outbox: Outbox): boolean {
  for (;;) {
    const [first] = outbox.unsent;
    if (first === undefined) break;
    const sent = Math.max(socket.write(first), 0);
    outbox.unsentBytes -= sent;
    if (sent < first.length) {
      outbox.unsent[0] = first.subarray(sent);
      return false;
    }
    outbox.unsent.shift();
  }
  const { onSent } = outbox;
  outbox.onSent = undefined;
  if (onSent !== undefined) {
    onSent();
    if (outbox.peerFinished) socket.end();
    else socket.shutdown();
  }
  return true;
}
