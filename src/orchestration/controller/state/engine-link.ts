import type { ManifestKey } from "../../api/manifest.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { unlessAborted } from "../../../base/words/abort.ts";
import type { SteadyClock } from "../../../base/words/clock.ts";
import { isoTime } from "../../../base/pure/iso-time.ts";
import type { Log } from "../../../base/words/log.ts";
import type { EngineInfo } from "../../engine/machine.ts";
import type { Engine } from "../../engine/engine.ts";
import type { PodEvent } from "../../engine/pod.ts";
import { createHeartbeat } from "./heartbeat.ts";
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
  /** Whether the engine answers right now: tells a command that takes long from an engine that does not move. */
  answers(): Promise<boolean>;
  /** A call that everything depends on failed, though the engine answers pings: the link starts again. */
  doubt(failure: Failure): void;
  /** Follows the engine until `signal` aborts. */
  follow(signal: AbortSignal): Promise<void>;
}

interface LinkOptions {
  engine: Engine;
  pods: PodTable;
  clock: SteadyClock;
  log: Log;
  limits: { enginePingMs: number; engineSilenceMs: number };
  onEvent: (key: ManifestKey, pod: Pod | undefined) => void;
  /** Each event about a container that was known before it. */
  onHeard: (pod: Pod, event: PodEvent) => void;
  /** A replica that was known before runs again, perhaps at another address; the table has taken that in. */
  onStart: (pod: Pod) => void;
  /** The table is filled and events flow: look at everything. `down`: the outage that this ends, on the steady clock. */
  onUp: (down: { from: number; to: number } | undefined) => void;
}

const retryFirstMs = 500;
const retryMaxMs = 2_000;
/** How long an engine that is asked out of turn may take to be taken for one that moves. */
const answerMs = 2_000;

/** An engine that takes connections, or has them open, and says nothing. `time`: `for 15 s`. */
function silenceText(time: string): string {
  return `docker has not answered ${time}, it seems to hang; on the server, look at: systemctl status docker, journalctl -u docker`;
}

function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}

export function createEngineLink({
  engine,
  pods,
  clock,
  log,
  limits,
  onEvent,
  onHeard,
  onStart,
  onUp,
}: LinkOptions): EngineLink {
  const heart = createHeartbeat({
    ping: (signal) => engine.ping(signal),
    clock,
    everyMs: limits.enginePingMs,
    silenceMs: limits.engineSilenceMs,
  });
  let up = false;
  let since = clock.now();
  let info: EngineInfo | undefined;
  let error: string | undefined = "not connected yet";
  /** When the outage that lasts began, on the steady clock: with the last answer. */
  let downFrom: number | undefined;
  let doubted = Promise.withResolvers<never>();

  const silence = () => silenceText(`for ${durationText(heart.silentMs())}`);
  const unavailable = (text: string) =>
    new Failure("unavailable", text, { reason: "EngineUnavailable", retryAfterSeconds: 2 });

  function turn(next: boolean, why: string | undefined): void {
    error = why;
    if (up === next) return;
    up = next;
    since = clock.now();
    if (!next) downFrom = clock.steady() - heart.silentMs();
    if (next) log.info("engine up", { version: info?.version, api: info?.apiVersion });
    else log.warn("engine down", { error: why });
  }

  /** An engine that hangs: callers that wait for it get an error, and no new request begins to wait. */
  function hangs(): void {
    // The same words as long as it lasts: a client that shows the reason again and again then prints it once.
    turn(false, silenceText(`since ${isoTime(clock.now() - heart.silentMs()).replace(/\.\d+/, "")}`));
    engine.suspend(() => unavailable(silence()));
  }

  async function session(signal: AbortSignal): Promise<void> {
    if (!(await unlessAborted(heart.answers(signal), signal))) return signal.aborted ? undefined : hangs();
    engine.resume();
    doubted = Promise.withResolvers();
    doubted.promise.catch(() => undefined);
    const work = serve(signal);
    // Awaited below; when the heart stops first, how the work ends is of no interest.
    work.catch(() => undefined);
    const silent = heart.follow(signal).then(() => !signal.aborted);
    silent.catch(() => undefined);
    const isSilent = await Promise.race([work.then(() => false), silent, doubted.promise]);
    if (isSilent) hangs();
    else if (!signal.aborted) turn(false, "the event stream ended");
  }

  /** Events first, then a listing: what happens in between is seen twice rather than never. */
  async function serve(signal: AbortSignal): Promise<void> {
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
    // Awaited last; a break before that must not be an unhandled error.
    reading.catch(() => undefined);
    await unlessAborted(Promise.race([open, reading]), signal);
    pods.forgetDetails();
    if (!signal.aborted) await unlessAborted(pods.refreshAll(), signal);
    if (signal.aborted) return;
    turn(true, undefined);
    onUp(downFrom === undefined ? undefined : { from: downFrom, to: clock.steady() });
    downFrom = undefined;
    await reading;
  }

  return {
    up: () => up,
    since: () => since,
    info: () => info,
    error: () => error,
    require() {
      if (!up) throw unavailable(`the container engine cannot be reached: ${error ?? "unknown error"}`);
    },
    async answers() {
      if (!up) return false;
      return heart.answers(new AbortController().signal, answerMs).catch(() => false);
    },
    doubt: (failure) => doubted.reject(failure),
    async follow(signal) {
      let delay = retryFirstMs;
      while (!signal.aborted) {
        const begun = clock.now();
        const scope = new AbortController();
        try {
          await session(AbortSignal.any([signal, scope.signal]));
        } catch (cause) {
          // It is not silent: each call fails by itself with what is wrong.
          engine.resume();
          const text = cause instanceof Error ? cause.message : String(cause);
          if (!signal.aborted) turn(false, text);
        } finally {
          scope.abort();
        }
        delay = clock.now() - begun > retryMaxMs ? retryFirstMs : Math.min(delay * 2, retryMaxMs);
        await clock.sleep(delay, signal);
      }
    },
  };
}
