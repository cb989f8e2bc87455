import { waitFor } from "./wait.ts";

/** One server-sent event as it came. */
export interface SentEvent {
  id: string | undefined;
  type: string;
  data: Record<string, unknown>;
}

export interface EventReader {
  status: number;
  events: SentEvent[];
  /** Comments, such as pings. */
  comments: number;
  /** The stream has ended. */
  ended: boolean;
  /** The first event of a type that came at `from` or later. */
  first(type: string, from?: number): Promise<SentEvent>;
  leave(): void;
}

/** Reads a stream of server-sent events until it ends or `leave` is called. */
export async function readEvents(url: string, headers: Record<string, string>): Promise<EventReader> {
  const left = new AbortController();
  const response = await fetch(url, { headers, signal: left.signal });
  const reader: EventReader = {
    status: response.status,
    events: [],
    comments: 0,
    ended: false,
    first(type, from = 0) {
      return waitFor(`the event ${type}`, () => reader.events.slice(from).find((event) => event.type === type));
    },
    leave: () => left.abort(),
  };
  void pump(response, reader);
  return reader;
}

async function pump(response: Response, reader: EventReader): Promise<void> {
  let text = "";
  try {
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) take(block, reader);
    }
  } catch {
    // The connection was cut.
  }
  reader.ended = true;
}

function take(block: string, reader: EventReader): void {
  if (block.startsWith(":")) {
    reader.comments += 1;
    return;
  }
  const fields = new Map(
    block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(": ") + 2)]),
  );
  reader.events.push({
    id: fields.get("id"),
    type: fields.get("event") ?? "message",
    data: JSON.parse(fields.get("data") ?? "{}"),
  });
}
