import type { Refusal } from "./refusal.ts";
import type { RequestHead } from "./request-head.ts";
import type { BufferedSocket } from "./buffered-socket.ts";

/** A request that leaves HTTP behind: from here on the handler alone writes to its connection and ends it. */
export interface Takeover {
  request: RequestHead;
  /** Whole, within the limits of every request, framing removed. */
  body: Uint8Array;
  socket: BufferedSocket;
  /** Answers with an error in the envelope and closes. The session is not called any more. */
  refuse(refusal: Refusal): void;
  /**
   * Nothing more will be written: FIN follows the last byte, however long a slow client takes to read that far. What
   * the client still sends is dropped. The session is not called any more.
   */
  finish(): void;
}

/** Claims a request once its body is complete. A throw, here or in the session, closes the connection. */
export type TakeoverHandler = (takeover: Takeover) => TakeoverSession;

/** What happens on the connection from then on. */
export interface TakeoverSession {
  /** Bytes that followed the request, also those that came together with it. */
  data(chunk: Uint8Array): void;
  /** All kept bytes are out: writing may go on. */
  drain(): void;
  /** The client's FIN: no more data comes, it may still read. */
  end(): void;
  /** The connection is gone; called once. */
  close(): void;
  /** The server wants to stop: a session without an end of its own should end now. */
  retire(): void;
}
