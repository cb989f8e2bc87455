import type { ServerName } from "../core/change.ts";
import { socketText } from "../core/commands.ts";
import { isDone, isGone, type RuntimeSocket } from "./runtime-socket.ts";

/** Servers of the running proxy that get nothing new, until they are idle and deleted. */
interface Draining {
  /** `deadline` in epoch milliseconds: then its last connections are closed. */
  add(server: ServerName, deadline: number): void;
  /** It is used again. */
  remove(server: ServerName): void;
  isDraining(server: ServerName): boolean;
  /** Whether it serves something, as far as the last look can tell. One that is idle may take time to be deleted. */
  isBusy(server: ServerName): boolean;
  /** One look at all of them. */
  look(now: number): Promise<void>;
  /** A new process has none of them. */
  clear(): void;
  readonly size: number;
}

interface Leaving extends ServerName {
  deadline: number;
  isIdle: boolean;
}

const keyOf = ({ backend, server }: ServerName) => `${backend}/${server}`;

export function createDraining(socket: RuntimeSocket): Draining {
  const leaving = new Map<string, Leaving>();

  async function lookAt(backend: string, now: number): Promise<void> {
    const ours = [...leaving.values()].filter((one) => one.backend === backend);
    const used = connectionsOf(await socket.ask(`show servers conn ${backend}\n`));
    for (const one of ours) {
      const count = used.get(one.server);
      const isOver = now >= one.deadline;
      one.isIdle = count === undefined || count === 0;
      if (!one.isIdle && !isOver) continue;
      if (isOver) await socket.ask(socketText({ kind: "close-sessions", ...one }));
      // Refused while idle connections are kept; those go within 20 s.
      const answer = await socket.ask(socketText({ kind: "delete-server", ...one }));
      // It may have been taken up again meanwhile.
      if ((isDone(answer) || isGone(answer)) && leaving.get(keyOf(one)) === one) leaving.delete(keyOf(one));
    }
  }

  return {
    add(server, deadline) {
      const known = leaving.get(keyOf(server));
      const isIdle = known?.isIdle ?? false;
      leaving.set(keyOf(server), { ...server, isIdle, deadline: Math.min(deadline, known?.deadline ?? deadline) });
    },
    remove: (server) => void leaving.delete(keyOf(server)),
    isDraining: (server) => leaving.has(keyOf(server)),
    isBusy: (server) => leaving.get(keyOf(server))?.isIdle === false,
    async look(now) {
      for (const backend of new Set([...leaving.values()].map((one) => one.backend))) await lookAt(backend, now);
    },
    clear: () => leaving.clear(),
    get size() {
      return leaving.size;
    },
  };
}

/**
 * Server → connections in use, of `show servers conn`. The columns are named in the first line; after the server's
 * name come its address, port, a dash, the purge delay, and then what is used now.
 */
export function connectionsOf(text: string): Map<string, number> {
  const used = new Map<string, number>();
  const lines = text.split("\n");
  const head =
    lines
      .find((line) => line.startsWith("#"))
      ?.slice(1)
      .trim()
      .split(/\s+/) ?? [];
  const column = head.indexOf("used_cur");
  if (column < 0) return used;
  for (const line of lines) {
    const fields = line.trim().split(/\s+/);
    const [, server] = (fields[0] ?? "").split("/");
    if (line.startsWith("#") || server === undefined || fields.length <= column) continue;
    used.set(server, Number(fields[column]));
  }
  return used;
}
