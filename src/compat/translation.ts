/** What holds for bodies of everybody. */
export interface ReadingLimits {
  jsonDepthMax: number;
}

/**
 * How one request of the contract's own client differs from what this server takes, or its answer from what that client
 * reads. What is left out stays as it is.
 */
export interface Translation {
  /** `path` is without the query. */
  claims(method: string, path: string): boolean;
  /** What the server is asked instead. */
  request?(request: Request, limits: ReadingLimits): Request | Promise<Request>;
  /** What the client is answered instead; `request` is what it sent, its body read. */
  answer?(answer: Response, request: Request, ask: Ask): Response | Promise<Response>;
}

/** What the server answers to another GET of the same client, path with query: its data, undefined for an error. */
export type Ask = (target: string) => Promise<unknown>;
