import { type Doubling, doubledWait } from "../../base/pure/doubling.ts";
import { clientNetwork } from "../../base/pure/client-network.ts";
import type { SteadyClock } from "../../base/words/clock.ts";
import { type Attempted, createAttempts } from "./attempts.ts";

/** At most `max` within any `perMs` milliseconds. */
interface Rate {
  max: number;
  perMs: number;
}

/** Soft lockout: after `free` failures in a row each further one doubles the wait, from `firstMs` up to `maxMs`. */
interface LockoutRule extends Doubling {
  free: number;
}

export interface RateLimitsConfig<Bucket extends string> {
  rates: Record<Bucket, Rate>;
  /** An IPv6 /48 may do as much as this many of its /64. */
  wideFactor: number;
  lockout: LockoutRule;
  /** Keys remembered at one time; beyond it the one that was not seen for longest is forgotten. */
  keysMax: number;
  /** Attempts of one client or account that may wait for others that are under way. */
  attemptsWaitingMax: number;
}

/** In memory: a restart forgets them. Each bucket has keys of its own. */
export interface RateLimits<Bucket extends string> {
  /** Counts one call; undefined when it may go on, else the seconds (whole, at least 1) until the next one may. */
  take(bucket: Bucket, key: string): number | undefined;
  /** As `take`, for the client that uses an address: by the network that one client holds. */
  takeClient(bucket: Bucket, ip: string): number | undefined;
  /** A call that was counted `ageMs` ago does not count after all. */
  giveBack(bucket: Bucket, key: string, ageMs?: number): void;
  giveBackClient(bucket: Bucket, ip: string, ageMs?: number): void;
  /** Counts failures alone, of a client by its address and of an account by its key; see `createAttempts`. */
  attempt<T>(by: AttemptBy<Bucket>, work: () => Promise<Attempted<T>>): Promise<{ late: number } | { result: T }>;
  /** Seconds until an account may be tried again; undefined when now. */
  locked(account: string): number | undefined;
  /** A wrong password for the account. */
  failed(account: string): void;
  /** A right one. */
  passed(account: string): void;
}

interface AttemptBy<Bucket extends string> {
  client?: { bucket: Bucket; ip: string } | undefined;
  account?: { bucket: Bucket; key: string } | undefined;
}

interface Slot<Bucket extends string> {
  bucket: Bucket;
  key: string;
  factor?: number;
}

export function createRateLimits<Bucket extends string>(options: {
  clock: Pick<SteadyClock, "steady">;
  limits: RateLimitsConfig<Bucket>;
}): RateLimits<Bucket> {
  const { clock, limits } = options;
  const calls = createRecent<number[]>(limits.keysMax);
  const failures = createRecent<{ count: number; until: number }>(limits.keysMax);
  const take = ({ bucket, key, factor = 1 }: Slot<Bucket>): number | undefined => {
    const { max, perMs } = limits.rates[bucket];
    const now = clock.steady();
    const name = nameOf(bucket, key);
    const within = (calls.get(name) ?? []).filter((at) => at > now - perMs);
    const [oldest = now] = within;
    const allowed = within.length < max * factor;
    if (allowed) within.push(now);
    calls.put(name, within);
    return allowed ? undefined : secondsUntil(oldest + perMs, now);
  };
  const giveBack = ({ bucket, key }: Slot<Bucket>, ageMs = 0): void => {
    // Older ones have left the count already: it would be the place of another.
    if (ageMs < limits.rates[bucket].perMs) calls.get(nameOf(bucket, key))?.pop();
  };
  const slotsOf = (bucket: Bucket, ip: string): Slot<Bucket>[] => {
    const { near, wide } = clientNetwork(ip);
    const slot = { bucket, key: near };
    return wide === undefined ? [slot] : [slot, { bucket, key: wide, factor: limits.wideFactor }];
  };
  /** All or none. */
  const takeAll = (slots: readonly Slot<Bucket>[]): { full: number; late: number } | undefined => {
    for (const [full, slot] of slots.entries()) {
      const late = take(slot);
      if (late === undefined) continue;
      for (const taken of slots.slice(0, full)) giveBack(taken);
      return { full, late };
    }
    return undefined;
  };
  const attempts = createAttempts<Slot<Bucket>>({
    waitingMax: limits.attemptsWaitingMax,
    nameOf: ({ bucket, key }) => nameOf(bucket, key),
    takeAll,
    giveBack,
  });
  return {
    take: (bucket, key) => take({ bucket, key }),
    takeClient: (bucket, ip) => takeAll(slotsOf(bucket, ip))?.late,
    giveBack: (bucket, key, ageMs) => giveBack({ bucket, key }, ageMs),
    giveBackClient(bucket, ip, ageMs) {
      for (const slot of slotsOf(bucket, ip)) giveBack(slot, ageMs);
    },
    attempt({ client, account }, work) {
      const ofClient = client === undefined ? [] : slotsOf(client.bucket, client.ip);
      return attempts([...ofClient, ...(account === undefined ? [] : [account])], work);
    },
    locked(account) {
      const until = failures.get(account)?.until ?? 0;
      return secondsUntil(until, clock.steady());
    },
    failed(account) {
      const count = (failures.get(account)?.count ?? 0) + 1;
      const waitMs = doubledWait(limits.lockout, count - limits.lockout.free);
      failures.put(account, { count, until: clock.steady() + waitMs });
    },
    passed: (account) => failures.forget(account),
  };
}

function nameOf(bucket: string, key: string): string {
  return `${bucket}\0${key}`;
}

function secondsUntil(at: number, now: number): number | undefined {
  return at <= now ? undefined : Math.max(1, Math.ceil((at - now) / 1_000));
}

interface Recent<T> {
  get(key: string): T | undefined;
  put(key: string, value: T): void;
  forget(key: string): void;
}

/** A map that keeps the `most` entries written last. */
function createRecent<T>(most: number): Recent<T> {
  const entries = new Map<string, T>();
  return {
    get: (key) => entries.get(key),
    put(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size <= most) return;
      const [first] = entries.keys();
      if (first !== undefined) entries.delete(first);
    },
    forget(key) {
      entries.delete(key);
    },
  };
}
