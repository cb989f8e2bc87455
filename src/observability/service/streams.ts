import { Failure } from "../../base/wire/failure.ts";
import type { Grant } from "../core/tokens/grant.ts";
import type { ObservabilityContext } from "./context.ts";
import { unlessAborted } from "../../base/words/abort.ts";
import { sleepAbout } from "../../base/words/sleep-about.ts";

/** One answer that goes on: a stream of lines or events, or a WebSocket. */
export interface OpenStream {
  /** Aborts when the token ends, when the client is gone, and when the server stops. */
  signal: AbortSignal;
  /** Call it when the stream is over, however that came. */
  close(): void;
}

/** Answers that go on, by the token that they were asked with, so that they end with it. */
export interface Streams {
  /** `left` aborts when the client is gone. Fails `too_many` for a token, `unavailable` for the server. */
  open(grant: Grant, left?: AbortSignal): OpenStream;
  /** Ends those of one token. */
  cut(id: string): void;
  /** Ends those of one session of a browser. */
  cutSession(session: string): void;
  /** Ends all of them and refuses new ones: they would keep a listener that stops from its end. */
  shut(): void;
  /** How many there are. */
  count(): number;
  /** Ends those of tokens that expire, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createStreams({ clock, limits }: Pick<ObservabilityContext, "clock" | "limits">): Streams {
  const open = new Map<AbortController, Grant>();
  let opened = Promise.withResolvers<void>();
  let isShut = false;
  const end = (isMeant: (grant: Grant) => boolean) => {
    for (const [controller, grant] of [...open]) if (isMeant(grant)) controller.abort();
  };
  return {
    open(grant, left) {
      if (isShut) throw new Failure("unavailable", "the server is stopping, try again", { retryAfterSeconds: 1 });
      refuseTooMany(grant, [...open.values()], limits);
      const controller = new AbortController();
      const close = () => {
        open.delete(controller);
        left?.removeEventListener("abort", leave);
      };
      const leave = () => controller.abort();
      controller.signal.addEventListener("abort", close, { once: true });
      open.set(controller, grant);
      opened.resolve();
      if (left?.aborted) leave();
      else left?.addEventListener("abort", leave, { once: true });
      return { signal: controller.signal, close };
    },
    cut: (id) => end((grant) => grant.id === id),
    cutSession: (session) => end((grant) => grant.session === session),
    shut() {
      isShut = true;
      end(() => true);
    },
    count: () => open.size,
    async run(signal) {
      while (!signal.aborted) {
        // Nothing is due before a stream is open.
        if (open.size === 0) {
          opened = Promise.withResolvers();
          await unlessAborted(opened.promise, signal);
        }
        await sleepAbout(clock, limits.expiryLookMs, signal);
        const now = clock.now();
        end(({ expiresAt }) => expiresAt !== undefined && expiresAt <= now);
      }
    },
  };
}

function refuseTooMany(grant: Grant, open: readonly Grant[], limits: ObservabilityContext["limits"]): void {
  if (open.length >= limits.streamsMax) {
    const text = `there are ${limits.streamsMax} streams open: close some, or try again`;
    throw new Failure("unavailable", text, { retryAfterSeconds: 5 });
  }
  if (open.filter(({ id }) => id === grant.id).length >= limits.streamsPerTokenMax) {
    const text = `this token has ${limits.streamsPerTokenMax} streams open: close some first`;
    throw new Failure("too_many", text, { retryAfterSeconds: 5 });
  }
}
