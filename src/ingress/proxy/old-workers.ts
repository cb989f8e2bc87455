import type { Command } from "../core/change.ts";
import { socketText } from "../core/commands.ts";
import { connectionsOf } from "./draining.ts";
import type { RuntimeSocket } from "./runtime-socket.ts";

/**
 * Workers that a load of the files has replaced. Each still answers one request on every connection that was open, and
 * keeps its WebSockets: so it has to know which replicas come and go.
 */
export interface OldWorkers {
  /** Carries out what they can: replicas and single routes. What fails is passed over, for they serve less and less. */
  send(commands: readonly Command[]): Promise<void>;
  /** Whether one of them has a connection to the server in use. */
  isUsing(server: { backend: string; server: string }): Promise<boolean>;
}

/** `master` is the socket of the master process. */
export function createOldWorkers(master: RuntimeSocket): OldWorkers {
  const list = async (): Promise<string[]> => oldWorkersOf(await master.ask("show proc\n").catch(() => ""));
  return {
    async send(commands) {
      const passed = commands.filter(isForOldWorkers);
      if (passed.length === 0) return;
      for (const pid of await list()) {
        for (const command of passed) await master.ask(`@!${pid} ${socketText(command)}`).catch(() => "");
      }
    },
    async isUsing({ backend, server }) {
      for (const pid of await list()) {
        const answer = await master.ask(`@!${pid} show servers conn ${backend}\n`).catch(() => "");
        if ((connectionsOf(answer).get(server) ?? 0) > 0) return true;
      }
      return false;
    },
  };
}

function isForOldWorkers({ kind }: Command): boolean {
  return ["add-server", "enable-server", "disable-server", "add-map", "set-map", "delete-map"].includes(kind);
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
