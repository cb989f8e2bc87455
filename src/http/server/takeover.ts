import type { RequestHead } from "./request-head.ts";
import type { Wire } from "./wire.ts";

/** A connection that left HTTP: from here on the handler alone writes to it and ends it. */
export interface Takeover {
  request: RequestHead;
  wire: Wire;
  /** Bytes that arrived behind the head: the request body, and perhaps more. */
  early: Uint8Array;
}

/** Claims a request. A throw, here or in the session, closes the connection. */
export type TakeoverHandler = (takeover: Takeover) => TakeoverSession;

/** What happens on the connection from then on. */
export interface TakeoverSession {
  data(chunk: Uint8Array): void;
  /** All kept bytes are out: writing may go on. */
  drain(): void;
  /** The client's FIN: no more data comes, it may still read. */
  end(): void;
  /** The connection is gone; called once. */
  close(): void;
}
