import { threads } from "../threads.ts";
import { limits, type ServeOptions } from "../config/config.ts";
import { telemetryLimits } from "../config/telemetry-limits.ts";
import { systemClock } from "../base/words/clock.ts";
import { startThread } from "../base/words/thread.ts";
import type { Log } from "../base/words/log.ts";
import { createTelemetryApp } from "../observability/http/telemetry.ts";
import type { Layout } from "../base/disk/layout.ts";
import type { TracePlatform } from "../observability/service/traces/create.ts";
import { freeSpace } from "../observability/store/logs/folder.ts";
import type { StartDecodeThread } from "../observability/service/telemetry/decode-thread.ts";
import type { TelemetryRoom } from "../observability/service/telemetry/create.ts";
import type { Senders } from "../orchestration/api/sender.ts";
import type { CallbackDoor } from "../orchestration/controller/state/plugin-room.ts";
import type { Naming } from "../orchestration/core/naming.ts";
import type { Engine } from "../orchestration/engine/engine.ts";
import { createDoor, type Door } from "../orchestration/http/callbacks/door.ts";

interface TelemetryDoorParts {
  options: Pick<ServeOptions, "telemetryPort">;
  engine: Engine;
  names: Naming;
  running: { senders: Senders };
  observability: { telemetry: TelemetryRoom };
  log: Log;
}

/** The listener for OTLP on the platform network; undefined where it is turned off. */
export function telemetryDoor(parts: TelemetryDoorParts): Door | undefined {
  const { options, engine, names, log } = parts;
  const { telemetryPort: port } = options;
  if (port === undefined) return undefined;
  const peerHeader = `${names.headerPrefix}-Peer`;
  const app = createTelemetryApp({
    room: parts.observability.telemetry,
    senders: parts.running.senders,
    peerHeader,
    limits: { ...telemetryLimits.http, ...telemetryLimits.front },
    log,
  });
  return createDoor({
    name: "telemetry",
    ...app,
    gateway: () => engine.networkGateway(names.network),
    makeNetwork: () => engine.ensureNetwork(names.network),
    port,
    peerHeader,
    encodedBodies: true,
    limits: { ...limits, ...telemetryLimits.front },
    clock: systemClock,
    log,
  });
}

/** What the controller knows of it, which is made before: nothing where it is turned off. */
export function telemetryTarget(
  { telemetryPort }: Pick<ServeOptions, "telemetryPort">,
  door: () => Door | undefined,
): { telemetry?: CallbackDoor } {
  if (telemetryPort === undefined) return {};
  return { telemetry: { url: () => door()?.url(), open: async () => door()?.open() } };
}

/** The thread that decodes. */
export function decodeThread(): StartDecodeThread {
  return startThread(threads.telemetry);
}

/** Where traces are kept. */
export function tracePlatform(layout: Pick<Layout, "root" | "tracesDatabase">): TracePlatform {
  return {
    file: layout.tracesDatabase,
    limits: telemetryLimits.traces,
    space: () => {
      try {
        return freeSpace(layout.root);
      } catch {
        return undefined;
      }
    },
  };
}
