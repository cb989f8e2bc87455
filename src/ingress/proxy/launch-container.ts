import type { Begun, Launch, RunEnd } from "./launch.ts";

/** HAProxy in a container of this machine, which has the files at the same paths; handed in by the daemon. */
interface ProxyContainer<Started> {
  once(args: readonly string[]): Promise<RunEnd>;
  start(args: readonly string[]): Promise<Started>;
  /** Resolves when it does not run any more; rejects when `signal` aborts. */
  ended(started: Started, signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
  output(): Promise<string>;
}

/** HAProxy from its image, for machines where it is not installed. The engine keeps its output small. */
export function launchContainer<Started>(container: ProxyContainer<Started>): Launch {
  return {
    once: container.once,
    begin: async (args) => begunOf(container, await container.start(args)),
    lastOutput: () => container.output().catch(() => ""),
    trimOutput: async () => undefined,
  };
}

function begunOf<Started>({ ended, stop }: ProxyContainer<Started>, started: Started): Begun {
  let isOver = false;
  const looking = new AbortController();
  ended(started, looking.signal).then(
    () => {
      isOver = true;
    },
    // The engine is away, or the caller has given up.
    () => undefined,
  );
  return {
    hasEnded: () => isOver,
    letGo: () => looking.abort(),
    async giveUp() {
      looking.abort();
      await stop();
    },
  };
}
