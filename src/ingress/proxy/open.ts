import type { SteadyClock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import type { Setup } from "../core/change.ts";
import type { Launch } from "./launch.ts";
import { createOldWorkers } from "./old-workers.ts";
import { createProcess } from "./process.ts";
import { createProxy, type IngressProxy } from "./proxy.ts";
import { createRuntimeSocket } from "./runtime-socket.ts";

interface OpenOptions {
  /** How HAProxy is run. */
  launch: Launch;
  setup: Setup;
  files: {
    pid: string;
    /** Unix socket of the master process. */
    master: string;
  };
  clock: SteadyClock;
  log: Log;
  /** In milliseconds: answer to a command, a start, the drain of a replica, the pauses between two looks. */
  limits: {
    commandMs: number;
    startMs: number;
    drainMs: number;
    lookMs: number;
    idleLookMs: number;
    /** Bytes of changes behind the state on disk, until it is written as a whole again. */
    stateChangesBytesMax: number;
  };
}

/** The proxy of these files, whether it runs already or is started by the first table. */
export function openProxy({ launch, setup, files, clock, log, limits }: OpenOptions): IngressProxy {
  const { commandMs, startMs, ...others } = limits;
  const { paths } = setup;
  const socket = createRuntimeSocket({ path: paths.socket, timeoutMs: commandMs });
  const master = createRuntimeSocket({ path: files.master, timeoutMs: commandMs });
  const process = createProcess({
    launch,
    paths,
    pidFile: files.pid,
    masterSocket: files.master,
    master,
    socket,
    clock,
    startMs,
  });
  const oldWorkers = createOldWorkers({ master, clock });
  return createProxy({ process, socket, oldWorkers, setup, clock, log, ...others });
}
