import type { ManifestKey } from "../../api/manifest.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { unlessAborted } from "../../../base/words/abort.ts";
import type { Clock } from "../../../base/words/clock.ts";
import type { Log } from "../../../base/words/log.ts";
import type { EngineInfo } from "../../engine/machine.ts";
import type { Engine } from "../../engine/engine.ts";
import type { PodEvent } from "../../engine/pod.ts";
import type { Pod } from "./pod.ts";
import type { PodTable } from "./pod-table.ts";

/** The connection to the container engine, as one state for everybody. */
export interface EngineLink {
  up(): boolean;
  /** Epoch ms of the last change of `up`. */
  since(): number;
  /** What the engine said when it was last reached. */
  info(): EngineInfo | undefined;
  /** Why it is down. */
  error(): string | undefined;
  /** Fails `unavailable` while the engine is down. */
  require(): void;
  /** Follows the engine until `signal` aborts. */
  follow(signal: AbortSignal): Promise<void>;
}

interface LinkOptions {
  engine: Engine;
  pods: PodTable;
  clock: Clock;
  log: Log;
  onEvent: (key: ManifestKey, pod: Pod | undefined) => void;
  /** Each event about a container that was known before it. */
  onHeard: (pod: Pod, event: PodEvent) => void;
  /** A replica that was known before runs again, perhaps at another address; the table has taken that in. */
  onStart: (pod: Pod) => void;
  /** The table is filled and events flow: look at everything. */
  onUp: () => void;
}

const retryFirstMs = 500;
const retryMaxMs = 2_000;

export function createEngineLink({
  engine,
  pods,
  clock,
  log,
  onEvent,
  onHeard,
  onStart,
  onUp,
}: LinkOptions): EngineLink {
  let up = false;
  let since = clock.now();
  let info: EngineInfo | undefined;
  let error: string | undefined = "not connected yet";

  function turn(next: boolean, why: string | undefined): void {
    error = why;
    if (up === next) return;
    up = next;
    since = clock.now();
    if (next) log.info("engine up", { version: info?.version, api: info?.apiVersion });
    else log.warn("engine down", { error: why });
  }

  /** Events first, then a listing: what happens in between is seen twice rather than never. */
  async function session(signal: AbortSignal): Promise<void> {
    // A server that stops does not wait for an engine that hangs.
    const found = await unlessAborted(engine.info(), signal);
    if (found === undefined) return;
    info = found;
    let opened = () => {};
    const open = new Promise<void>((resolve) => {
      opened = resolve;
    });
    const reading = (async () => {
      for await (const event of engine.events(signal, opened)) {
        const pod = pods.byId(event.id);
        if (pod !== undefined) onHeard(pod, event);
        const key = pods.observe(event);
        if (key === undefined) continue;
        onEvent(key, pod);
        if (event.action === "start" && pod !== undefined) onStart(pod);
      }
    })();
    // Awaited last; a break before that must not count as nobody's error.
    reading.catch(() => undefined);
    await unlessAborted(Promise.race([open, reading]), signal);
    pods.forgetDetails();
    if (!signal.aborted) await unlessAborted(pods.refreshAll(), signal);
    if (signal.aborted) return;
    turn(true, undefined);
    onUp();
    await reading;
  }

  return {
    up: () => up,
    since: () => since,
    info: () => info,
    error: () => error,
    require() {
      if (up) return;
      throw new Failure("unavailable", `the container engine cannot be reached: ${error ?? "unknown error"}`, {
        reason: "EngineUnavailable",
        retryAfterSeconds: 2,
      });
    },
    async follow(signal) {
      let delay = retryFirstMs;
      while (!signal.aborted) {
        const begun = clock.now();
        const scope = new AbortController();
        try {
          await session(AbortSignal.any([signal, scope.signal]));
          if (!signal.aborted) turn(false, "the event stream ended");
        } catch (cause) {
          if (!signal.aborted) turn(false, cause instanceof Error ? cause.message : String(cause));
        } finally {
          scope.abort();
        }
        delay = clock.now() - begun > retryMaxMs ? retryFirstMs : Math.min(delay * 2, retryMaxMs);
        await clock.sleep(delay, signal);
      }
    },
  };
}
