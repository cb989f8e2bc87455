import { bindFailure } from "../../base/http/front/address.ts";
import type { Log } from "../../base/words/log.ts";
import { errorAnswer } from "./answers.ts";

type Handler = (request: Request) => Response | Promise<Response>;

interface ListenerOptions {
  address: { hostname: string; port: number };
  /** Makes the handler; `peerOf` tells the address of the other end of a request's connection. */
  handler: (peerOf: (request: Request) => string) => Handler;
  limits: { idleMs: number; requestsMax: number };
  log: Log;
}

export interface Listener {
  /** `host:port` as bound. */
  address: string;
  /** Stops accepting, lets requests under way end for `graceMs` milliseconds, then closes everything. */
  stop(graceMs: number): Promise<void>;
}

/** Listens for the identity service. Fails `conflict` when the address is in use. */
export function startListener({ address, handler, limits, log }: ListenerOptions): Listener {
  let peerOf: (request: Request) => string = () => "";
  const handle = handler((request) => peerOf(request));
  const server = bind((request) => (server.pendingRequests > limits.requestsMax ? busy() : handle(request)));
  peerOf = (request) => server.requestIP(request)?.address ?? "";
  const host = server.hostname?.includes(":") ? `[${server.hostname}]` : server.hostname;
  return {
    address: `${host}:${server.port}`,
    async stop(graceMs) {
      const ended = server.stop();
      const late = setTimeout(() => void server.stop(true), graceMs);
      await ended;
      clearTimeout(late);
    },
  };

  function bind(answer: Handler) {
    try {
      return Bun.serve({
        ...address,
        fetch: answer,
        idleTimeout: Math.ceil(limits.idleMs / 1000),
        // The limit is ours to keep: Bun's own 413 has no body.
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        // Bun shares a port with whoever comes, as soon as development is off: a second server would go unnoticed.
        reusePort: false,
        // The development error page shows source paths.
        development: false,
        error(error) {
          log.error("handler threw", { error });
          return errorAnswer(500, "internal error, the log says why");
        },
      });
    } catch (error) {
      throw bindFailure(`${address.hostname}:${address.port}`, error);
    }
  }
}

function busy(): Response {
  return errorAnswer(503, "Too many requests at one time", { "Retry-After": "1" });
}
