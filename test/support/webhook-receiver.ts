export interface ReceivedHook {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export type AnswerHook = (hook: ReceivedHook, index: number) => Response | Promise<Response>;

/** A receiver of webhooks on loopback. */
export interface HookReceiver {
  /** `http://127.0.0.1:<port>` */
  url: string;
  port: number;
  received: ReceivedHook[];
  stop(): Promise<void>;
}

/** Answers 204 unless told otherwise; `tls` takes a certificate and its key. */
export function startReceiver(
  answer: AnswerHook = () => new Response(null, { status: 204 }),
  tls?: { cert: string; key: string },
): HookReceiver {
  const received: ReceivedHook[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    ...(tls === undefined ? {} : { tls }),
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const hook = {
        method: request.method,
        path: `${pathname}${search}`,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
      };
      return answer(hook, received.push(hook) - 1);
    },
  });
  const port = server.port ?? 0;
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    received,
    stop: () => server.stop(true),
  };
}
