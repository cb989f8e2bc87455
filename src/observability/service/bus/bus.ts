import type { SteadyClock } from "../../../base/words/clock.ts";
import { sleepAbout } from "../../../base/words/sleep-about.ts";
import type { StreamEvents, Topic } from "../../api/stream.ts";
import type { StreamFilter } from "../../core/stream/filter.ts";
import { createRing, type StreamEvent } from "../../core/stream/ring.ts";

/** One stream of everything that changes, to many clients. */
export interface Bus {
  /** `isKept`: a client that comes back gets it as well. */
  publish(event: StreamEvent, isKept: boolean): void;
  /** `lastEventId`: the last one that the client has seen. */
  join(filter: StreamFilter, lastEventId: string | undefined): BusClient;
  leave(client: BusClient): void;
  /** How many clients listen to a topic. */
  count(topic?: Topic): number;
  /** Keeps quiet streams open until `signal` aborts; then closes all. */
  run(signal: AbortSignal): Promise<void>;
}

export interface BusLimits {
  ringEvents: number;
  ringBytes: number;
  waitingBytesMax: number;
  pingMs: number;
}

interface BusParts {
  /** The present state, as a client with this filter sees it. */
  snapshot(filter: StreamFilter): StreamEvents["snapshot"];
  clock: SteadyClock;
  version(): string;
  /** Names this run of the server: ids of another run say nothing. */
  epoch: string;
  limits: BusLimits;
}

interface Group {
  filter: StreamFilter;
  clients: Set<BusClient>;
}

const encoder = new TextEncoder();
/** A comment for proxies between, and an event: browsers show no comment to a page. */
const ping = encoder.encode(": \n\nevent: ping\ndata: {}\n\n");

export function createBus({ snapshot, clock, version, epoch, limits }: BusParts): Bus {
  const ring = createRing(limits);
  const groups = new Map<string, Group>();
  const groupOf = new Map<BusClient, Group>();

  function encode(type: string, data: string, seq: number | undefined): Uint8Array {
    const id = seq === undefined ? "" : `id: ${epoch}-${seq}\n`;
    return encoder.encode(`${id}event: ${type}\ndata: ${data}\n\n`);
  }

  function present(filter: StreamFilter): Uint8Array[] {
    return filter.topics.has("state") ? [encode("snapshot", JSON.stringify(snapshot(filter)), ring.last)] : [];
  }

  function reset(filter: StreamFilter, reason: string): Uint8Array[] {
    return [encode("reset", JSON.stringify({ reason }), ring.last), ...present(filter)];
  }

  /** What a client gets first. */
  function opening(filter: StreamFilter, lastEventId: string | undefined): Uint8Array[] {
    const { missed, reason } = missedSince(lastEventId);
    const isResumed = missed !== undefined;
    const hello = {
      at: new Date(clock.now()).toISOString(),
      topics: [...filter.topics],
      resumed: isResumed,
      version: version(),
    };
    const first = encode("hello", JSON.stringify(hello), isResumed ? undefined : ring.last);
    if (missed === undefined) return [first, ...(reason === undefined ? present(filter) : reset(filter, reason))];
    const events = missed.flatMap((event) => {
      const data = filter.topics.has(event.topic) ? event.dataFor(filter) : undefined;
      return data === undefined ? [] : [encode(event.type, data, event.seq)];
    });
    return [first, ...events];
  }

  function missedSince(lastEventId: string | undefined) {
    if (lastEventId === undefined || lastEventId === "") return { missed: undefined, reason: undefined };
    const [, known, text] = /^([0-9a-z]+)-(\d{1,15})$/.exec(lastEventId) ?? [];
    if (known !== epoch) return { missed: undefined, reason: "server" };
    return { missed: ring.after(Number(text)), reason: "gap" };
  }

  return {
    publish(event, isKept) {
      const full = isKept ? event.dataFor(everything) : undefined;
      const seq = isKept ? ring.add(event, full?.length ?? 0) : undefined;
      for (const { filter, clients } of groups.values()) {
        const data = filter.topics.has(event.topic) ? event.dataFor(filter) : undefined;
        if (data === undefined) continue;
        const bytes = encode(event.type, data, seq);
        for (const client of clients) client.offer(bytes);
      }
    },
    join(filter, lastEventId) {
      const group = groups.get(filter.key) ?? { filter, clients: new Set() };
      groups.set(filter.key, group);
      const client = createBusClient(limits.waitingBytesMax, () => reset(filter, "slow"));
      group.clients.add(client);
      groupOf.set(client, group);
      client.offer(Buffer.concat(opening(filter, lastEventId)));
      return client;
    },
    leave(client) {
      client.close();
      const group = groupOf.get(client);
      groupOf.delete(client);
      group?.clients.delete(client);
      if (group?.clients.size === 0) groups.delete(group.filter.key);
    },
    count(topic) {
      const fitting = [...groups.values()].filter(({ filter }) => topic === undefined || filter.topics.has(topic));
      return fitting.reduce((sum, { clients }) => sum + clients.size, 0);
    },
    async run(signal) {
      while (!signal.aborted) {
        await sleepAbout(clock, limits.pingMs, signal);
        for (const client of groupOf.keys()) if (client.idle) client.offer(ping);
      }
      for (const client of [...groupOf.keys()]) this.leave(client);
    },
  };
}

/** How large an event is at most. */
const everything: StreamFilter = { key: "", topics: new Set(), sees: () => true, seesAll: true };

/** What waits for one client, bounded: a client that reads too slowly gets a note about it, and the present state instead. */
interface BusClient {
  offer(bytes: Uint8Array): void;
  /** The next bytes, as soon as there are some; undefined once it is closed. */
  next(): Promise<Uint8Array | undefined>;
  /** Nothing waits. */
  readonly idle: boolean;
  close(): void;
}

/** `catchUp`: what a client gets in place of everything that it missed. */
export function createBusClient(waitingBytesMax: number, catchUp: () => Uint8Array[]): BusClient {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  let isBehind = false;
  let isClosed = false;
  let wake: (() => void) | undefined;

  function tell(): void {
    wake?.();
    wake = undefined;
  }

  return {
    offer(part) {
      if (isClosed || isBehind) return;
      if (bytes > 0 && bytes + part.length > waitingBytesMax) {
        isBehind = true;
        waiting = [];
        bytes = 0;
        return;
      }
      waiting.push(part);
      bytes += part.length;
      tell();
    },
    async next() {
      for (;;) {
        if (isClosed) return undefined;
        if (isBehind) {
          isBehind = false;
          waiting = catchUp();
          bytes = waiting.reduce((sum, part) => sum + part.length, 0);
        }
        if (waiting.length > 0) {
          const all = waiting.length === 1 ? waiting[0] : Buffer.concat(waiting);
          waiting = [];
          bytes = 0;
          return all;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    get idle() {
      return waiting.length === 0 && !isBehind;
    },
    close() {
      isClosed = true;
      waiting = [];
      tell();
    },
  };
}
