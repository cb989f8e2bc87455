import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

export interface SeenRequest {
  method: string;
  /** Without the version prefix. */
  path: string;
  query: URLSearchParams;
  /** Path and query as sent. */
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export type Answer = (request: SeenRequest, response: ServerResponse) => void;

/** An HTTP server that looks like a Docker Engine from the outside, for what a real one cannot be made to do. */
export interface FakeEngine {
  host: string;
  /** Every request but those for the version. */
  requests: SeenRequest[];
  /** Facts it tells of itself; change them to be another engine. */
  version: { ApiVersion: string; MinAPIVersion: string };
  close(): Promise<void>;
}

export async function startFakeEngine(answer: Answer): Promise<FakeEngine> {
  const requests: SeenRequest[] = [];
  const version = { ApiVersion: "1.41", MinAPIVersion: "1.12" };
  const server = createServer(async (incoming, response) => {
    const request = await readRequest(incoming);
    if (request.path === "/version") return sendJson(response, 200, version);
    requests.push(request);
    answer(request, response);
  });
  const port = await listen(server);
  return { host: `tcp://127.0.0.1:${port}`, requests, version, close: () => end(server) };
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** An engine's refusal. */
export function refuse(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, { message });
}

async function readRequest(incoming: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const url = incoming.url ?? "";
  const { pathname, searchParams } = new URL(url, "http://engine");
  return {
    method: incoming.method ?? "",
    path: pathname.replace(/^\/v[\d.]+/, ""),
    query: searchParams,
    url,
    headers: incoming.headers,
    body: Buffer.concat(chunks).toString(),
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}

function end(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
