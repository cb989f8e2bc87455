import type { SteadyClock } from "../../../base/words/clock.ts";
import { batchOf, type Declined, type Pace, paceAfterDeclined, paceAfterTaken } from "../../core/drains/batch.ts";
import type { Cursor } from "../../core/logs/cursor.ts";
import type { FoundLine } from "../../core/logs/line.ts";
import type { DrainRecord } from "../../store/log-drains.ts";
import type { ObservabilityContext } from "../context.ts";
import type { LogsRoom } from "../logs/create.ts";
import type { DrainOutside } from "./parts.ts";
import { sendBatch } from "./send.ts";

/** What became of one batch. */
interface Delivered {
  /** Whether there may be more to send at once. */
  more: boolean;
  /** Time of the oldest line that still waits; undefined without one that is known. */
  oldestAt?: number | undefined;
  /** The other side did not take it, and the drain has to wait. */
  declined?: Declined;
}

/** What is known about the other side, until the next start. */
interface Peer {
  pace: Pace;
  /** When it last took something, on the steady clock. */
  takenAt: number | undefined;
}

export interface Deliverer {
  /** Sends one batch. */
  next(drain: DrainRecord): Promise<Delivered>;
  /** Forgets what is known about the other side: it is another one now. */
  forget(name: string): void;
}

interface Parts extends Pick<ObservabilityContext, "store"> {
  clock: SteadyClock;
  logs: LogsRoom;
  outside: DrainOutside;
}

/**
 * Sends the lines of drains in batches. A batch that is refused is halved until the line is found that the other side
 * does not take. This line is set aside, so that it does not stop those behind it, if the other side takes anything.
 */
export function createDeliverer({ store, clock, logs, outside }: Parts): Deliverer {
  const { limits, hostname } = outside;
  const peers = new Map<string, Peer>();
  const fresh: Peer = { pace: { linesMax: limits.linesMax, growth: 1, cuts: 0 }, takenAt: undefined };

  async function isTaking({ name, target, cursor }: DrainRecord, peer: Peer): Promise<boolean> {
    if (peer.takenAt !== undefined && clock.steady() - peer.takenAt < limits.provenMs) return true;
    const batch = batchOf([testLine(clock.now())], { target, hostname, bytesMax: limits.batchBytes });
    const declined = await sendBatch(outside, { target, batch, cursor, now: clock.now() });
    if (declined !== undefined) return false;
    peers.set(name, { ...peer, takenAt: clock.steady() });
    return true;
  }

  return {
    forget: (name) => peers.delete(name),
    async next(drain) {
      const { cursor, apps, level, target, name } = drain;
      const peer = peers.get(name) ?? fresh;
      const until = clock.now() - limits.lagMs;
      const query = { reach: apps, apps: [], until, ...(level === undefined ? {} : { level }) };
      const limit = Math.min(limits.linesMax, peer.pace.linesMax);
      const page = await logs.page({ query, order: "asc", limit, cursor: `${cursor.at}.${cursor.skip}` });
      const bytesMax = target.type === "s3" ? limits.objectBytes : limits.batchBytes;
      const batch = batchOf(page.lines, { target, hostname, bytesMax });
      const { lines } = batch;
      const [first] = lines;
      if (first === undefined) return { more: false };
      const declined = await sendBatch(outside, { target, batch, cursor, now: clock.now() });
      const more = lines.length < page.lines.length || page.cursor !== undefined;
      if (declined === undefined) {
        peers.set(name, { pace: paceAfterTaken(peer.pace, limits.linesMax), takenAt: clock.steady() });
        await store.write(({ drains }) => drains.advance(name, after(cursor, lines), lines.length));
        return { more, oldestAt: more ? lines.at(-1)?.at : undefined };
      }
      const { pace, next } = paceAfterDeclined(peer.pace, declined.why, lines.length);
      peers.set(name, { ...peer, pace });
      if (next === "half") return { more: true, oldestAt: first.at };
      if (next === "wait" || !(await isTaking(drain, { ...peer, pace }))) {
        return { more: false, oldestAt: first.at, declined };
      }
      const refusal = { at: clock.now(), app: `${first.app.scope}/${first.app.name}`, result: declined.text };
      await store.write(({ drains }) => drains.setAside(name, after(cursor, lines), refusal));
      return { more: true, oldestAt: first.at };
    },
  };
}

/** The place behind these lines. */
function after(before: Cursor, lines: readonly FoundLine[]): Cursor {
  const at = lines.at(-1)?.at ?? before.at;
  const same = lines.filter((line) => line.at === at).length;
  return { at, skip: same + (at === before.at ? before.skip : 0) };
}

export function testLine(at: number): FoundLine {
  const source = { id: "test", pod: "test", replica: "", release: "", role: "" };
  return {
    app: { scope: "berth", name: "test" },
    at,
    source,
    stream: "berth",
    level: "info",
    text: "test line of berth",
  };
}
