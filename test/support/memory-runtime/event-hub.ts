import type { PodEvent } from "../../../src/orchestration/engine/pod.ts";

/** Hands events to every follower in order; a follower that is behind loses nothing. */
export interface EventHub {
  publish(event: PodEvent): void;
  follow(signal: AbortSignal, onOpen: () => void): AsyncGenerator<PodEvent>;
  /** Every follower gets what is still on its way, then this error. */
  breakAll(error: Error): void;
}

interface Follower {
  events: PodEvent[];
  broken: Error | undefined;
  wake: () => void;
}

export function createEventHub(): EventHub {
  const followers = new Set<Follower>();

  async function* follow(signal: AbortSignal, onOpen: () => void): AsyncGenerator<PodEvent> {
    const follower: Follower = { events: [], broken: undefined, wake: () => undefined };
    const end = () => follower.wake();
    signal.addEventListener("abort", end);
    followers.add(follower);
    try {
      onOpen();
      while (!signal.aborted) {
        const event = follower.events.shift();
        if (event !== undefined) yield event;
        else if (follower.broken !== undefined) throw follower.broken;
        else await new Promise<void>((resolve) => (follower.wake = resolve));
      }
    } finally {
      followers.delete(follower);
      signal.removeEventListener("abort", end);
    }
  }

  return {
    follow,
    publish: (event) => {
      for (const follower of followers) {
        follower.events.push(event);
        follower.wake();
      }
    },
    breakAll: (error) => {
      for (const follower of followers) {
        follower.broken = error;
        follower.wake();
      }
    },
  };
}
