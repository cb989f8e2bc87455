import { loadUiFiles } from "../../../src/local/ui/files.ts";
import type { StreamEvents } from "../../../src/observability/api/stream.ts";
import { createUiPages } from "../../../src/observability/http/ui-pages.ts";

/** A request of the page, for tests that look at what it asked for. */
export interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  body: unknown;
}

/** `data` of an answer, a `Response` as it is, or what makes one for each request. */
export type Answers = Record<string, unknown>;

export interface FakePlane {
  url: string;
  /** By `METHOD /path below /api/pat/v1`: may be changed while a page is open. */
  answers: Answers;
  asked: Asked[];
  /** Sends a message to every page that listens. */
  send<K extends keyof StreamEvents>(name: K, data: StreamEvents[K]): void;
  /** Sends nothing by itself any more, as a server that hangs. */
  hang(): void;
  /** Pages that listen just now. */
  listeners(): number;
  /** Ends every stream, and refuses new ones until `back` is called. */
  away(): void;
  back(): void;
  stop(): Promise<void>;
}

const prefix = "/api/pat/v1";
const encoder = new TextEncoder();

/** Plays the observability plane for a browser: the real pages, answers that a test writes, and a stream that it feeds. */
export function startFakePlane(answers: Answers): FakePlane {
  const pages = createUiPages(loadUiFiles);
  const asked: Asked[] = [];
  const streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  let isAway = false;
  let sequence = 0;
  const pinging = setInterval(() => {
    for (const stream of streams) stream.enqueue(encoder.encode("event: ping\ndata: {}\n\n"));
  }, 2_000);

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const url = new URL(request.url);
      if (!url.pathname.startsWith("/api/") && !url.pathname.startsWith("/ui/api/")) return pages(request);
      if (isAway) return Response.json({ status: "error", error: "away" }, { status: 503 });
      const path = url.pathname.replace(prefix, "");
      if (path === "/stream") return stream();
      const text = await request.text();
      asked.push({
        method: request.method,
        path,
        query: Object.fromEntries(url.searchParams),
        body:
          request.headers.get("content-type") === "application/octet-stream"
            ? text
            : text === ""
              ? undefined
              : JSON.parse(text),
      });
      return answerOf(answers[`${request.method} ${path}`], path);
    },
  });

  function stream(): Response {
    let own: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        own = controller;
        streams.add(controller);
        controller.enqueue(encoder.encode(": hello\n\n"));
      },
      cancel: () => void streams.delete(own),
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  }

  return {
    url: `http://127.0.0.1:${server.port}`,
    answers,
    asked,
    send(name, data) {
      sequence += 1;
      const bytes = encoder.encode(`id: ${sequence}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
      for (const stream of streams) stream.enqueue(bytes);
    },
    hang: () => clearInterval(pinging),
    listeners: () => streams.size,
    away() {
      isAway = true;
      for (const stream of streams) stream.close();
      streams.clear();
    },
    back() {
      isAway = false;
    },
    stop() {
      clearInterval(pinging);
      return server.stop(true);
    },
  };
}

function answerOf(answer: unknown, path: string): Response {
  if (typeof answer === "function") return answer() as Response;
  if (answer instanceof Response) return answer.clone() as Response;
  if (answer !== undefined) return Response.json({ status: "ok", data: answer });
  return Response.json({ status: "error", error: `no answer for ${path}` }, { status: 404 });
}
