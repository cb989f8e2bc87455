import { threads } from "../threads.ts";
import { hostname } from "node:os";
import { join } from "node:path";
import { createGuardedFetch } from "../base/deliver/guarded-fetch.ts";
import { createObjectSender } from "../base/deliver/object-storage.ts";
import { createPinned } from "../base/deliver/pinned.ts";
import { resolveHost } from "../base/deliver/resolve-host.ts";
import { createStreamSender } from "../base/deliver/stream-socket.ts";
import { startThread } from "../base/words/thread.ts";
import { proxyVariables, type ServeOptions } from "../config/config.ts";
import { logLimits } from "../config/log-limits.ts";
import type { Gate } from "../base/deliver/gate.ts";
import type { Layout } from "../base/disk/layout.ts";
import type { Log } from "../base/words/log.ts";
import { systemClock } from "../base/words/clock.ts";
import type { LoggedContainer } from "../observability/collect/logs/capture.ts";
import type { DrainOutside } from "../observability/service/drains/parts.ts";
import type { LogPlatform } from "../observability/service/logs/create.ts";
import type { Engine } from "../orchestration/engine/engine.ts";
import type { ObservedPod } from "../orchestration/engine/pod.ts";

/** Where the engine is, and who notes that logs come from the engine itself: that is not exact while it changes its log files. */
export function dockerOf({ dockerHost }: Pick<ServeOptions, "dockerHost">, log: Log) {
  const message = "logs are read through Docker, which can repeat or lose lines when log files are full";
  return {
    host: dockerHost,
    onLogFallback: (why: string, container: string) => log.warn(message, { why, container }),
  };
}

/** What the room of the logs needs of this machine. */
export function logPlatform(engine: Engine, layout: Pick<Layout, "logs">): LogPlatform {
  const { store, capture, search, room } = logLimits;
  return {
    start: startThread(threads.logs),
    setup: { folder: join(layout.logs, "pods"), store, capture, search },
    limits: room,
    async containers() {
      const pods = await engine.observe();
      const paths = await Promise.all(pods.map((pod) => engine.logFile(pod)));
      return pods.flatMap((pod, index) => logged(pod, paths[index]));
    },
    async changes(signal, onChange) {
      while (!signal.aborted) {
        try {
          for await (const { action } of engine.events(signal, onChange)) if (isChange(action)) onChange();
        } catch {
          // The engine is away, which others report; the list is read by the clock meanwhile.
        }
        await systemClock.sleep(room.reconnectMs, signal);
      }
    },
  };
}

/** The ways by which lines leave this machine. */
export function drainOutside(allowPrivate: boolean, gate: Gate): DrainOutside {
  const { drains } = logLimits;
  const guard = { resolve: resolveHost, allowPrivate };
  const asking = {
    ...guard,
    fetch: createPinned(proxyVariables()),
    bodyBytesMax: drains.answerBytesMax,
  };
  const held = "no lines are sent";
  return {
    limits: drains,
    hostname: hostname(),
    post: gate.guard(held, createGuardedFetch({ ...asking, headMs: drains.sendMs })),
    stream: gate.guard(held, createStreamSender({ ...guard, limitMs: drains.sendMs })),
    put: gate.guard(held, createObjectSender({ ...asking, limitMs: drains.sendMs })),
  };
}

function isChange(action: string): boolean {
  return ["create", "start", "die", "destroy", "rename"].includes(action);
}

function logged({ id, name, state, identity }: ObservedPod, path: string | undefined): LoggedContainer[] {
  if (identity === undefined || path === undefined) return [];
  const { key, replicaId, releaseId, role } = identity;
  return [
    {
      app: { scope: key.scope, name: key.name },
      source: { id, pod: name, replica: replicaId, release: releaseId ?? "", role: role ?? "" },
      path,
      running: state === "running" || state === "restarting" || state === "paused",
    },
  ];
}
