/** A request with a key of the client's own. */
export interface KeyedRequest {
  key: string;
  /** Digest of method, path, query and body. */
  digest: string;
  at: number;
  /** False while it is under way, and where the server ended before it was done. */
  done: boolean;
  /** Undefined where it was not kept. */
  answer: KeptAnswer | undefined;
}

/** An answer of the plane, to be given again. */
export interface KeptAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface KeyedRequestReads {
  get(key: string): KeyedRequest | undefined;
}

export interface KeyedRequestWrites {
  /** Inserts or replaces by key. Removes what is older than `before`, and the oldest beyond the number to keep. */
  put(request: KeyedRequest, before: number): void;
  remove(key: string): void;
}
