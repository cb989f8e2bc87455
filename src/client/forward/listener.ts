import { type Duplex, duplexHandlers } from "../../base/words/duplex.ts";
import { CommandFailure } from "../basics/failures.ts";

interface Listening {
  address: string;
  /** 0 takes any free one. */
  port: number;
  /** Bytes of each connection that may wait for a slow reader. */
  highBytes: number;
  onConnection(connection: Duplex): void;
}

export interface LocalListener {
  port: number;
  close(): void;
}

/** Listens on this machine. Fails when the port is taken, or not for this user. */
export function listenLocally({ address, port, highBytes, onConnection }: Listening): LocalListener {
  try {
    const socket = duplexHandlers(highBytes, onConnection);
    const listener = Bun.listen({ hostname: address, port, allowHalfOpen: true, data: undefined, socket });
    return { port: listener.port, close: () => listener.stop(true) };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const place = `${address}:${port}`;
    if (code === "EADDRINUSE")
      throw new CommandFailure(`${place} is in use here: choose another, LOCAL:REMOTE or :REMOTE`);
    if (code === "EACCES") throw new CommandFailure(`no permission to listen on ${place}: choose a port above 1023`);
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`cannot listen on ${place}: ${why}`);
  }
}
