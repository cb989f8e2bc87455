/** A server that plays a script: enough of the orchestration plane to see the client work over real sockets. */
export interface FakeServer {
  url: string;
  requests: { method: string; path: string; body: string; actor: string | null }[];
  stop(): Promise<void>;
}

/** Answers by `METHOD /path` (the query is not part of it); `undefined` becomes a 404 in the envelope. */
export type Routes = (request: { method: string; path: string; query: URLSearchParams; body: string }) => unknown;

/** An answer other than 200. */
export interface Refusal {
  status: number;
  error: string;
}

export function fakeServer(routes: Routes, listen: { port: 0 } | { unix: string } = { port: 0 }): FakeServer {
  const requests: FakeServer["requests"] = [];
  const server = Bun.serve({
    ...("unix" in listen ? { unix: listen.unix } : { hostname: "127.0.0.1", port: 0 }),
    development: false,
    async fetch(request: Request) {
      const url = new URL(request.url);
      const body = await request.text();
      const call = { method: request.method, path: url.pathname, body };
      requests.push({ ...call, actor: request.headers.get("x-berth-actor") });
      return reply(routes({ ...call, query: url.searchParams }));
    },
  });
  const url = "unix" in listen ? `unix:${listen.unix}` : `http://127.0.0.1:${server.port}`;
  return { url, requests, stop: () => server.stop(true) };
}

function reply(answer: unknown): Response {
  if (answer instanceof Response) return answer;
  if (answer === undefined) return Response.json({ status: "error", error: "no such route" }, { status: 404 });
  if (isRefusal(answer)) return Response.json({ status: "error", error: answer.error }, { status: answer.status });
  return Response.json({ status: "ok", data: answer });
}

function isRefusal(answer: unknown): answer is Refusal {
  return typeof answer === "object" && answer !== null && "status" in answer && "error" in answer;
}
