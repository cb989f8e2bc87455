import type { StreamEvents } from "../../observability/api/stream.ts";
import { connection, heardAt } from "./connection.ts";

/** What each kind of message does to what is held. */
export type Hearers = { [K in keyof StreamEvents]?: (data: StreamEvents[K]) => void };

interface Stream {
  close(): void;
}

/**
 * Tabs in the background listen no more after this, and hear all they missed when they come back: a browser has six
 * connections to a server over HTTP/1.1, for all of its tabs together.
 */
const hiddenMs = 5_000;
const againMs = 2_000;
/** After this long a silent connection is replaced. */
const deadMs = 20_000;

/**
 * Listens to the server. The browser connects again by itself and says where it was; a stream that the server refuses is
 * tried again by us, unless `isOver` says that the session has ended.
 */
export function openStream(target: string, hearers: Hearers, isOver: () => Promise<boolean>): Stream {
  let source: EventSource | undefined;
  let lastId = "";
  let openedAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  const listen = () => {
    if (closed || source !== undefined) return;
    const from = lastId === "" ? target : `${target}&last_event_id=${encodeURIComponent(lastId)}`;
    const opened = new EventSource(from);
    source = opened;
    openedAt = Date.now();
    for (const [name, hear] of Object.entries(hearers)) {
      opened.addEventListener(name, (message: MessageEvent<string>) => {
        if (message.lastEventId !== "") lastId = message.lastEventId;
        heardAt.value = Date.now();
        connection.value = "live";
        // One table in api/ has the names of the events and their shapes.
        (hear as (data: unknown) => void)(JSON.parse(message.data));
      });
    }
    opened.onopen = () => {
      connection.value = "live";
      heardAt.value = Date.now();
    };
    opened.onerror = () => {
      if (connection.value !== "ended") connection.value = "lost";
      if (opened.readyState === EventSource.CLOSED) void refused();
    };
  };
  const drop = () => {
    source?.close();
    source = undefined;
  };
  const refused = async () => {
    drop();
    if (closed || (await isOver())) return;
    timer = setTimeout(listen, againMs);
  };
  const turn = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(drop, hiddenMs);
    else {
      // What is shown is as old as the time away, until the server has told how it is now.
      if (source === undefined && connection.value === "live") connection.value = "connecting";
      listen();
    }
  };
  // A connection that a network drops silently reports no error.
  const watcher = setInterval(() => {
    if (source === undefined || document.hidden || Date.now() - Math.max(openedAt, heardAt.value ?? 0) < deadMs) return;
    connection.value = "lost";
    drop();
    listen();
  }, againMs);
  document.addEventListener("visibilitychange", turn);
  // A page that the browser keeps for its back button must not keep a connection.
  addEventListener("pagehide", drop);
  addEventListener("pageshow", turn);
  turn();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
      clearInterval(watcher);
      document.removeEventListener("visibilitychange", turn);
      removeEventListener("pagehide", drop);
      removeEventListener("pageshow", turn);
      drop();
    },
  };
}
