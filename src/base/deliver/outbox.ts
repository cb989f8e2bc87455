import { aborted, createWaker } from "../words/abort.ts";
import type { Clock } from "../words/clock.ts";
import type { Log } from "../words/log.ts";
import type { Attempt, WebhookCall } from "./webhook.ts";

/** Something to be sent that waits in the store. */
interface Waiting {
  id: string;
  /** Attempts before the next one. */
  attempts: number;
  /** When it is to be tried next; epoch milliseconds. */
  nextAt: number;
}

/** A webhook call that waits in the store. */
export interface WaitingCall extends WebhookCall, Waiting {}

/** What an attempt made of a call. */
export interface CallState {
  status: "waiting" | "delivered" | "dropped";
  attempts: number;
  nextAt: number;
  lastResult: string;
}

interface OutboxOptions<C extends Waiting> {
  /** What is sent, for the log: `webhook call` where left out. */
  noun?: string;
  /**
   * Calls that may go next, due or not, the one that is due first at the front. A call that must not overtake another
   * one is not among them while that one waits: what is under way waits as well. This keeps the order of a subject.
   */
  waiting: (limit: number) => C[];
  /** Keeps what an attempt made of the call; resolves once that is durable. */
  record: (call: C, state: CallState, made?: Attempt) => Promise<void>;
  send: (call: C, signal: AbortSignal) => Promise<Attempt>;
  clock: Clock;
  log: Log;
  /** Pauses between attempts, in ms: one more attempt than there are pauses. */
  pausesMs: readonly number[];
  /** Why a call is not sent any more: it is dropped without an attempt. */
  over?: (call: C) => string | undefined;
  /** Whether a call is tried with the last pause for ever, until it is over. */
  isKept?: (call: C) => boolean;
  /** A call that is due later than this was put there by a clock that has jumped back since. */
  longestWaitMs: number;
  inFlightMax: number;
}

export interface Outbox {
  /** There may be something new to send. */
  wake(): void;
  /** Sends what is due until `signal` aborts; what is under way then is sent again after the next start. */
  run(signal: AbortSignal): Promise<void>;
}

const batch = 100;
const troublePauseMs = 5_000;

/**
 * Works off the calls that the store holds. An attempt is recorded after it was made, so each call is delivered at
 * least once, whenever the process ends. Calls that `waiting` returns together are sent side by side, in no order.
 */
export function createOutbox<C extends Waiting>(options: OutboxOptions<C>): Outbox {
  const { clock, inFlightMax, noun = "webhook call" } = options;
  const log = options.log.with({ noun });
  const inFlight = new Map<string, Promise<void>>();
  const waker = createWaker();

  function start(call: C, signal: AbortSignal): void {
    const work = attempt(call, options, signal)
      .catch(async (error) => {
        if (signal.aborted) return;
        log.error("attempt not recorded", { delivery: call.id, error });
        await clock.sleep(troublePauseMs, signal);
      })
      .finally(() => {
        inFlight.delete(call.id);
        waker.wake();
      });
    inFlight.set(call.id, work);
  }

  /** Starts what is due; how long there is nothing to do then, undefined for ever. */
  function startDue(signal: AbortSignal): number | undefined {
    const now = clock.now();
    const idle = options.waiting(batch).filter(({ id }) => !inFlight.has(id));
    const isDue = ({ nextAt }: C) => nextAt <= now || nextAt > now + options.longestWaitMs;
    for (const call of idle.filter(isDue).slice(0, inFlightMax - inFlight.size)) start(call, signal);
    // With every place taken, the next free one wakes us.
    if (inFlight.size >= inFlightMax) return undefined;
    const later = idle.filter((call) => !isDue(call)).map(({ nextAt }) => nextAt - now);
    return later.length === 0 ? undefined : Math.min(...later);
  }

  return {
    wake: waker.wake,
    async run(signal) {
      while (!signal.aborted) {
        const stirred = waker.round(signal);
        const pauseMs = guarded(() => startDue(signal), log);
        if (pauseMs === undefined) await aborted(stirred);
        else await clock.sleep(pauseMs, stirred);
      }
      await Promise.all(inFlight.values());
    },
  };
}

/** A store that cannot be read right now is read again. */
function guarded(look: () => number | undefined, log: Log): number | undefined {
  try {
    return look();
  } catch (error) {
    log.error("outbox not read", { error });
    return troublePauseMs;
  }
}

async function attempt<C extends Waiting>(call: C, options: OutboxOptions<C>, signal: AbortSignal): Promise<void> {
  const over = options.over?.(call);
  if (over !== undefined) {
    const { attempts, nextAt } = call;
    return options.record(call, { status: "dropped", attempts, nextAt, lastResult: over });
  }
  const made = await options.send(call, signal);
  await options.record(call, stateAfter(call, made, options), made);
}

function stateAfter<C extends Waiting>(call: C, made: Attempt, options: OutboxOptions<C>): CallState {
  const { pausesMs, clock, isKept } = options;
  const attempts = call.attempts + 1;
  const state = { attempts, nextAt: call.nextAt, lastResult: made.result };
  if (made.outcome === "delivered") return { ...state, status: "delivered" };
  const pauseMs = pausesMs[attempts - 1] ?? (isKept?.(call) === true ? pausesMs.at(-1) : undefined);
  if (made.outcome === "refused" || pauseMs === undefined) return { ...state, status: "dropped" };
  return { ...state, status: "waiting", nextAt: clock.now() + pauseMs };
}
