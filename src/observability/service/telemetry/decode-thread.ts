import { Failure } from "../../../base/wire/failure.ts";
import type { Clock } from "../../../base/words/clock.ts";
import type { Log } from "../../../base/words/log.ts";
import type { StartThread, ThreadHandle } from "../../../base/words/thread.ts";
import { DecodeError } from "./decode.ts";
import type {
  DecodedPart,
  DecodeJob,
  DecodeSetup,
  DecodeSummary,
  FromDecodeThread,
  ToDecodeThread,
} from "./messages.ts";

export type StartDecodeThread = StartThread<ToDecodeThread, FromDecodeThread>;

interface DecodeThreadOptions {
  start: StartDecodeThread;
  setup: DecodeSetup;
  limits: { deadlineMs: number; idleMs: number };
  clock: Clock;
  log: Log;
}

/** The thread that decodes telemetry, seen from the one that serves. */
export interface DecodeThread {
  /**
   * Decodes one request, and hands its parts to `onPart`; call it for one request at a time. Fails with a `DecodeError`,
   * and `unavailable` when the thread ends or is silent for too long.
   */
  run(job: DecodeJob, onPart: (part: DecodedPart) => void): Promise<DecodeSummary>;
  close(): void;
}

interface Running {
  onPart(part: DecodedPart): void;
  resolve(summary: DecodeSummary): void;
  reject(error: unknown): void;
}

const ended = () => new Failure("unavailable", "the telemetry was not decoded: try again", { retryAfterSeconds: 1 });

/** The thread starts with the first request and ends when none has come for a while: most servers never need it. */
export function createDecodeThread({ start, setup, limits, clock, log }: DecodeThreadOptions): DecodeThread {
  let handle: ThreadHandle<ToDecodeThread> | undefined;
  let running: Running | undefined;
  let idle = new AbortController();
  let heard = 0;
  let isClosed = false;

  const end = () => {
    idle.abort();
    handle?.end();
    handle = undefined;
    running?.reject(ended());
    running = undefined;
  };
  const begin = (): ThreadHandle<ToDecodeThread> => {
    const own: ThreadHandle<ToDecodeThread> = start({
      onMessage(message) {
        if (handle === own) receive(own, message);
      },
      onEnd(error) {
        if (handle !== own) return;
        log.error("the thread of the telemetry ended", { error: String(error) });
        end();
      },
    });
    own.post({ type: "open", setup });
    handle = own;
    return own;
  };
  const receive = (own: ThreadHandle<ToDecodeThread>, message: FromDecodeThread) => {
    heard += 1;
    const { onPart, resolve, reject } = running ?? {};
    if (message.type === "part") {
      try {
        onPart?.(message.part);
      } catch (error) {
        // The parts that are left are not asked for: the next request takes their place.
        running = undefined;
        return reject?.(error);
      }
      // Others get their turn between two parts.
      return void setImmediate(() => own.post({ type: "next" }));
    }
    running = undefined;
    if (message.type === "done") resolve?.(message.summary);
    else reject?.(new DecodeError(message.fault, message.message, message.charged));
  };

  /** A thread that says nothing for so long hangs. */
  async function watch(own: Running): Promise<void> {
    for (let before = -1; running === own && heard !== before;) {
      before = heard;
      await clock.sleep(limits.deadlineMs, idle.signal);
    }
    if (running !== own) return;
    log.error("the thread of the telemetry hangs and is replaced", { waited_ms: limits.deadlineMs });
    end();
  }

  async function endWhenIdle({ signal }: AbortController): Promise<void> {
    await clock.sleep(limits.idleMs, signal);
    if (!signal.aborted && running === undefined) end();
  }

  return {
    async run(job, onPart) {
      // Requests wait for their turn: each would start the thread again, and keep a server that stops from ending.
      if (isClosed) throw ended();
      idle.abort();
      idle = new AbortController();
      const thread = handle ?? begin();
      try {
        return await new Promise<DecodeSummary>((resolve, reject) => {
          const own = { onPart, resolve, reject };
          running = own;
          thread.post({ type: "decode", job }, [job.body]);
          void watch(own);
        });
      } finally {
        idle.abort();
        idle = new AbortController();
        if (handle !== undefined) void endWhenIdle(idle);
      }
    },
    close() {
      isClosed = true;
      end();
    },
  };
}
