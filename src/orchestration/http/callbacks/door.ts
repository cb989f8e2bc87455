import { Failure } from "../../../base/wire/failure.ts";
import type { CallbackDoor } from "../../controller/state/plugin-room.ts";
import type { SteadyClock } from "../../../base/words/clock.ts";
import { sleepAbout } from "../../../base/words/sleep-about.ts";
import type { Log } from "../../../base/words/log.ts";
import type { FrontLimits } from "../../../base/http/front/connection.ts";
import { type Front, type FrontOptions, startFront } from "../../../base/http/front/front.ts";

interface DoorOptions {
  /** What it listens for, in the log. */
  name: "callbacks" | "telemetry";
  fetch: (request: Request) => Response | Promise<Response>;
  /** Who may connect, and which requests are read; without them all. */
  admit?: NonNullable<FrontOptions["tcp"]>["admit"];
  vet?: FrontOptions["vet"];
  /** Gateway of the platform network; undefined while there is none. */
  gateway: () => Promise<string | undefined>;
  makeNetwork: () => Promise<void>;
  port: number;
  peerHeader: string;
  encodedBodies?: boolean;
  limits: FrontLimits & { callbackLookMs: number };
  clock: SteadyClock;
  log: Log;
}

/** The listener on the platform network's own address: only the machine and its containers reach it. */
export interface Door extends CallbackDoor {
  /** Follows the network, which may be recreated under another address, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const stopGraceMs = 1_000;

export function createDoor(options: DoorOptions): Door {
  let front: Front | undefined;
  let address: string | undefined;
  let looking: Promise<void> | undefined;
  let trouble = "";

  const close = async () => {
    const closing = front;
    front = undefined;
    address = undefined;
    await closing?.stop(stopGraceMs);
  };
  const look = async () => {
    const gateway = await options.gateway();
    if (gateway === address) return;
    await close();
    if (gateway === undefined) return;
    front = await startFront({
      tcp: { hostname: gateway, port: options.port, ...(options.admit && { admit: options.admit }) },
      vet: options.vet,
      app: options.fetch,
      limits: options.limits,
      peerHeader: options.peerHeader,
      encodedBodies: options.encodedBodies,
      log: options.log,
    });
    address = gateway;
    trouble = "";
    options.log.info(`listening for ${options.name}`, { address: front.addresses[0] });
  };
  const lookOnce = () => {
    looking ??= look()
      .catch((error: unknown) => {
        const text = error instanceof Error ? error.message : String(error);
        // Looked for again and again: the same trouble is reported once. An outage of the engine says how long it lasts.
        const kind = error instanceof Failure ? (error.reason ?? text) : text;
        if (kind !== trouble) options.log.warn(`not listening for ${options.name}`, { error: text });
        trouble = kind;
      })
      .finally(() => {
        looking = undefined;
      });
    return looking;
  };
  return {
    url: () => (front === undefined ? undefined : `http://${front.addresses[0]}`),
    async open() {
      if (front !== undefined) return;
      await options.makeNetwork().catch(() => undefined);
      // A look that is under way may have begun before there was a network.
      await looking;
      await lookOnce();
    },
    async run(signal) {
      while (!signal.aborted) {
        await lookOnce();
        await sleepAbout(options.clock, options.limits.callbackLookMs, signal);
      }
      await looking;
      await close();
    },
  };
}
