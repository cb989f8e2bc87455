import type { Log } from "../../words/log.ts";
import { bindFailure, claimUnixPath, privately } from "./address.ts";

export type InnerHandler = (request: Request) => Response | Promise<Response>;

export interface InnerServer {
  path: string;
  stop(): Promise<void>;
}

/** The HTTP server proper, behind the front on a private socket. It has no limits of its own: the front keeps them. */
export async function startInner(path: string, handler: InnerHandler, log: Log): Promise<InnerServer> {
  await claimUnixPath(path);
  const server = privately(() => bind(path, handler, log));
  return { path, stop: () => server.stop(true) };
}

/**
 * Streams may be silent and handlers slow; the front watches the client. Bun's types deny this setting to unix
 * sockets, yet the server has it there, and `server.timeout(request, 0)` is without effect on them.
 */
const noTimeOut: object = { idleTimeout: 0 };

function bind(path: string, handler: InnerHandler, log: Log) {
  try {
    return Bun.serve({
      unix: path,
      fetch: handler,
      ...noTimeOut,
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // The development error page shows source paths.
      development: false,
      error(error) {
        log.error("handler threw", { error });
        const envelope = { status: "error", error: "internal error, the log says why" };
        return new Response(`${JSON.stringify(envelope)}\n`, {
          status: 500,
          headers: { "Content-Type": "application/json" },
        });
      },
    });
  } catch (error) {
    throw bindFailure(path, error);
  }
}
