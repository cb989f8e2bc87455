import type { SteadyClock } from "../../src/base/words/clock.ts";

/**
 * The power of one server in a test. Once it is off, that server does nothing any more: what it asks is not done, what
 * was under way never answers, and its timers never fire. As with kill -9, what had reached others stays.
 */
export interface Power {
  readonly on: boolean;
  cut(): void;
  /** The same object; calls of the named methods go through only while there is power. */
  feed<T extends object>(target: T, methods: readonly (keyof T)[]): T;
  feedClock(clock: SteadyClock): SteadyClock;
}

/** Told after each call that went through, before its caller learns of it. */
export type AfterCall = (method: string, args: unknown[]) => void;

type AnyCall = (...args: unknown[]) => unknown;

export function createPower(afterCall: AfterCall = () => undefined): Power {
  const off = new AbortController();
  const never = <T>() => new Promise<T>(() => undefined);

  const fed = (name: string, call: AnyCall, target: object): AnyCall =>
    async function fedCall(...args) {
      if (off.signal.aborted) return never();
      try {
        const answer = await call.apply(target, args);
        afterCall(name, args);
        return off.signal.aborted ? never() : answer;
      } catch (error) {
        if (off.signal.aborted) return never();
        throw error;
      }
    };

  return {
    get on() {
      return !off.signal.aborted;
    },
    cut: () => off.abort(),
    feed(target, methods) {
      const wrapped = new Map(methods.map((name) => [name, fed(String(name), target[name] as AnyCall, target)]));
      return new Proxy(target, {
        get: (object, name) => wrapped.get(name as keyof typeof object) ?? Reflect.get(object, name),
      });
    },
    feedClock: (clock) => ({
      now: () => clock.now(),
      steady: () => clock.steady(),
      async sleep(ms, signal) {
        if (off.signal.aborted) return never();
        await clock.sleep(ms, signal === undefined ? off.signal : AbortSignal.any([signal, off.signal]));
        return off.signal.aborted ? never() : undefined;
      },
    }),
  };
}
