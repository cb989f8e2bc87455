import type { BufferedSocket } from "./buffered-socket.ts";

/** Writes to a taken connection with back-pressure. */
export interface Outlet {
  /** Resolves once the kernel has taken the bytes; false when the connection is gone. */
  write(bytes: Uint8Array): Promise<boolean>;
  /** The session's `drain`. */
  drain(): void;
  /** The session's `close`: writes under way and later ones resolve with false. */
  close(): void;
}

export function createOutlet(socket: BufferedSocket): Outlet {
  let closed = false;
  let wake: (() => void) | undefined;
  const wakeUp = () => {
    wake?.();
    wake = undefined;
  };
  return {
    async write(bytes) {
      if (closed) return false;
      if (!socket.write(bytes)) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return !closed;
    },
    drain: wakeUp,
    close() {
      closed = true;
      wakeUp();
    },
  };
}
