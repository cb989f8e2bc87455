import { bindFailure } from "../server/address.ts";
import type { Log } from "../../lib/log.ts";
import { errorAnswer } from "./answers.ts";

type Handler = (request: Request) => Response | Promise<Response>;

export interface ListenerOptions {
  address: { hostname: string; port: number };
  /** Makes the handler; `peerOf` tells the address of the other end of a request's connection. */
  handler: (peerOf: (request: Request) => string) => Handler;
  limits: { bodyBytesMax: number; idleMs: number };
  log: Log;
}

export interface Listener {
  /** `host:port` as bound. */
  address: string;
  /** Stops accepting, lets requests under way end for `graceMs` milliseconds, then closes everything. */
  stop(graceMs: number): Promise<void>;
}

/** How far beyond the limit Bun still hands a body to us, so that the 413 is ours and has a body. */
const slack = 16;

/** Listens for the identity service. Fails `conflict` when the address is in use. */
export function startListener({ address, handler, limits, log }: ListenerOptions): Listener {
  let peerOf: (request: Request) => string = () => "";
  const answer = handler((request) => peerOf(request));
  const server = bind();
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

  function bind() {
    try {
      return Bun.serve({
        ...address,
        fetch: answer,
        idleTimeout: Math.ceil(limits.idleMs / 1000),
        maxRequestBodySize: limits.bodyBytesMax * slack,
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
