import { readFlag } from "../../base/wire/query.ts";
import { sightOf, requireAllApps } from "../../access/apps.ts";
import { type Call, mount, mountStream, type Plane } from "../../base/http/mount.ts";
import { logContext, logHistogram, type LogLine, logState, searchLogs, streamLogs } from "../api/log-search.ts";
import type { LogsRoom } from "../service/logs/create.ts";

const pingMs = 5_000;
/** Lines that wait for a slow client; of more, the newest are left out and counted. */
const heldMax = 20_000;
/** Characters of one page: 10,000 lines may have 2.5 GB. */
const pageCharactersMax = 4_000_000;

export function mountLogs(plane: Plane, logs: LogsRoom): void {
  mount(plane, searchLogs, ({ query, by }) => logs.search(sightOf(by), query, pageCharactersMax));
  mount(plane, logContext, ({ query, by }) => logs.context(sightOf(by), query));
  mount(plane, logHistogram, ({ query, by }) => logs.histogram(sightOf(by), query));
  mount(plane, logState, ({ by }) => {
    requireAllApps(by);
    return logs.state();
  });
  mountStream(plane, streamLogs, async (call) => {
    const stream = call.open();
    try {
      return await lineStream(logs, call, stream);
    } catch (error) {
      stream.close();
      throw error;
    }
  });
}

/** Answers once the stored lines are there, so that what is wrong with the question is an envelope. */
async function lineStream(
  logs: LogsRoom,
  { by, query }: Pick<Call<typeof streamLogs>, "by" | "query">,
  stream: { signal: AbortSignal; close(): void },
): Promise<Response> {
  const held = createHeld();
  const leave = logs.follow(sightOf(by), query, held);
  const end = () => {
    leave();
    held.onEnd(undefined);
    stream.close();
  };
  stream.signal.addEventListener("abort", end, { once: true });
  if (stream.signal.aborted) end();
  try {
    await held.first;
  } catch (error) {
    end();
    throw error;
  }
  const goesOn = readFlag(query.follow, false);
  const body = new ReadableStream<Uint8Array>({
    // Headers go out with the first bytes: without them, a log in which nothing is written looks like no answer.
    start: (controller) => (goesOn ? controller.enqueue(Buffer.from("\n")) : undefined),
    async pull(controller) {
      const text = await held.next(pingMs, !goesOn);
      if (text === undefined) {
        end();
        controller.close();
      } else controller.enqueue(Buffer.from(text));
    },
    cancel: end,
  });
  return new Response(body, { headers: { "Content-Type": streamLogs.stream ?? "", "X-Accel-Buffering": "no" } });
}

/** Lines between the store and a client. */
function createHeld() {
  let lines: LogLine[] = [];
  let skipped = 0;
  let ended = false;
  let wake = () => {};
  const begun = Promise.withResolvers<void>();
  return {
    /** Resolves with the stored lines. */
    first: begun.promise,
    onLines(event: { lines: readonly LogLine[]; skipped: number }) {
      const room = heldMax - lines.length;
      lines.push(...event.lines.slice(0, room));
      skipped += event.skipped + Math.max(event.lines.length - room, 0);
      begun.resolve();
      wake();
    },
    onEnd(error: unknown) {
      ended = true;
      if (error === undefined) begun.resolve();
      else begun.reject(error);
      wake();
    },
    /** Whole lines; an empty one after `quietMs`; undefined at the end. `last`: there is nothing more to wait for. */
    async next(quietMs: number, last: boolean): Promise<string | undefined> {
      if (lines.length === 0 && skipped === 0 && !ended && !last) await wakened(quietMs);
      if (lines.length === 0 && skipped === 0) return ended || last ? undefined : "\n";
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
      const note = skipped === 0 ? "" : `${JSON.stringify({ skipped })}\n`;
      lines = [];
      skipped = 0;
      return text + note;
    },
  };

  async function wakened(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
  }
}
