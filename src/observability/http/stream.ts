import { Failure } from "../../base/wire/failure.ts";
import { openStream, type Topic, topics } from "../api/stream.ts";
import { streamFilter } from "../core/stream/filter.ts";
import { appFilter } from "./filters.ts";
import { mountStream } from "../../base/http/mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

const headers = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store",
  // Proxies that gather an answer would hold events back.
  "X-Accel-Buffering": "no",
};

export function mountStreamRoute(plane: ObservabilityPlane): void {
  const { streams, apps } = plane.observability;
  const { bus } = apps.stream;
  mountStream(plane, openStream, async ({ grant, query, request }) => {
    appFilter(query.app);
    const [scope = "", name] = query.app?.split("/") ?? [];
    const app = query.app === undefined ? undefined : { scope, ...(name === undefined ? {} : { name }) };
    const filter = streamFilter(grant, readTopics(query.topics), app);
    await apps.model.fresh();
    const stream = streams.open(grant, request.signal);
    const client = bus.join(filter, request.headers.get("last-event-id") ?? query.last_event_id);
    const end = () => {
      bus.leave(client);
      stream.close();
    };
    stream.signal.addEventListener("abort", end, { once: true });
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const bytes = await client.next();
          if (bytes === undefined) controller.close();
          else controller.enqueue(bytes);
        },
        cancel: end,
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { headers });
  });
}

function readTopics(text: string | undefined): Topic[] {
  const words = (text ?? "state").split(",").map((word) => word.trim());
  const wrong = words.find((word) => !topics.some((topic) => topic === word));
  if (wrong === undefined) return topics.filter((topic) => words.includes(topic));
  throw new Failure("invalid", `query topics: "${wrong}" is not a topic; use ${topics.join(", ")}`);
}
