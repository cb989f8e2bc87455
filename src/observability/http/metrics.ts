import { sightOf } from "../../access/apps.ts";
import { mount, mountStream, type Plane } from "../../base/http/mount.ts";
import type { Log } from "../../base/words/log.ts";
import { dumpMetrics, exposeMetrics, getMetrics, listMetrics, queryMetrics } from "../api/metrics.ts";
import type { MetricsAnswers } from "../service/metrics/answers.ts";

export function mountMetrics(plane: Plane, metrics: MetricsAnswers, log: Log): void {
  mount(plane, getMetrics, ({ query, by }) => metrics.chart(query, sightOf(by)));
  mount(plane, queryMetrics, ({ query, by }) => metrics.query(query, sightOf(by)));
  mount(plane, listMetrics, ({ query, by }) => metrics.catalogue(query, sightOf(by)));
  mountStream(plane, dumpMetrics, async ({ query, by, open }) => {
    const lines = metrics.dump(query, sightOf(by));
    return linesResponse(lines, { contentType: dumpMetrics.stream ?? "", stream: open(), log });
  });
  mountStream(plane, exposeMetrics, async ({ by }) =>
    textResponse(metrics.exposition(sightOf(by)), exposeMetrics.stream ?? ""),
  );
}

interface LinesOptions {
  contentType: string;
  log: Log;
  /** Ends the answer early. */
  stream?: { signal: AbortSignal; close(): void };
}

/**
 * Pieces of text as an answer, made as fast as the client reads. An answer that fails in the middle ends with a line
 * that says so: `{"error": "…"}`.
 */
function linesResponse(pieces: AsyncIterable<string>, { contentType, log, stream }: LinesOptions): Response {
  const encoder = new TextEncoder();
  const iterator = pieces[Symbol.asyncIterator]();
  let isLeft = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = stream?.signal.aborted === true ? { done: true, value: "" } : await iterator.next();
        if (isLeft) return;
        if (done !== true) return controller.enqueue(encoder.encode(value));
      } catch (error) {
        if (isLeft) return;
        log.error("metrics dump failed", { error });
        const text = "the rest could not be read, the log of the server says why";
        controller.enqueue(encoder.encode(`${JSON.stringify({ error: text })}\n`));
      }
      stream?.close();
      controller.close();
    },
    async cancel() {
      isLeft = true;
      stream?.close();
      await iterator.return?.();
    },
  });
  return new Response(body, { headers: { "Content-Type": contentType, "Cache-Control": "no-store" } });
}

function textResponse(text: string, contentType: string): Response {
  return new Response(text, { headers: { "Content-Type": contentType, "Cache-Control": "no-store" } });
}
