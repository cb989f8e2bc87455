import type { Clock } from "../../base/words/clock.ts";
import { keepAliveMs } from "../core/layout.ts";
import { connectionsOf } from "./draining.ts";
import type { RuntimeSocket } from "./runtime-socket.ts";

/**
 * Workers that a load of the files has replaced. Each still answers one request on every connection that was open, with
 * the replicas that it knew, and keeps its WebSockets. It takes no commands about replicas any more, so the replicas
 * have to stay until it is done with them.
 */
export interface OldWorkers {
  /** The files were loaded just now. */
  replaced(): void;
  /** Whether one of them uses the server, or may still send a request there. */
  mayUse(server: { backend: string; server: string }): Promise<boolean>;
}

interface OldWorkersOptions {
  /** The socket of the master process, which passes commands on. */
  master: RuntimeSocket;
  clock: Clock;
}

export function createOldWorkers({ master, clock }: OldWorkersOptions): OldWorkers {
  /** A server that has just started does not know when the last load was. */
  let replacedAt = clock.now();
  return {
    replaced() {
      replacedAt = clock.now();
    },
    async mayUse({ backend, server }) {
      const pids = oldWorkersOf(await master.ask("show proc\n").catch(() => ""));
      for (const pid of pids) {
        const used = connectionsOf(await master.ask(`@!${pid} show servers conn ${backend}\n`).catch(() => ""));
        const count = used.get(server);
        // Connections that are open but idle end with the time that they may be idle.
        if (count !== undefined && (count > 0 || clock.now() < replacedAt + keepAliveMs)) return true;
      }
      return false;
    },
  };
}

/** Pids of `show proc`, whose sections have titles. */
export function oldWorkersOf(text: string): string[] {
  const pids: string[] = [];
  let isOld = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("#")) isOld = /^#\s*old workers/.test(line);
    const [, pid] = /^(\d+)\s+worker\b/.exec(line) ?? [];
    if (isOld && pid !== undefined) pids.push(pid);
  }
  return pids;
}
