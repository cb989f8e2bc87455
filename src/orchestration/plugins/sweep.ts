import { readdirSync, readFileSync } from "node:fs";

/** Ends processes of runs that are over, wherever they went: a process that left its group still has its environment. */
export interface Sweeper {
  /** Resolves when nothing of the run is left. */
  now(runId: string): Promise<void>;
  /** Like `now`, for all of these runs. */
  all(isWanted: (runId: string) => boolean): Promise<void>;
  /** Within about a second; many runs share one look. */
  later(runId: string): void;
  /** Looks for what is still owed. */
  close(): Promise<void>;
}

const pauseMs = 1_000;
/** A process may fork while it is looked for: looked at again until nothing is found. */
const roundsMax = 20;

export function createSweeper(variable: string): Sweeper {
  let owed = new Set<string>();
  let timer: Timer | undefined;
  const sweepOwed = () => {
    timer = undefined;
    const runs = owed;
    owed = new Set();
    return sweep(variable, (run) => runs.has(run));
  };
  return {
    now: (runId) => sweep(variable, (run) => run === runId),
    all: (isWanted) => sweep(variable, isWanted),
    later(runId) {
      owed.add(runId);
      timer ??= setTimeout(() => void sweepOwed(), pauseMs).unref();
    },
    async close() {
      clearTimeout(timer);
      if (owed.size > 0) await sweepOwed();
    },
  };
}

async function sweep(variable: string, isWanted: (run: string) => boolean): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    const found = await processesOf(variable, isWanted);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
    await Bun.sleep(round);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone by itself.
  }
}

/** Read before others get their turn: a machine may have thousands. */
const pidsAtOnce = 100;

async function processesOf(variable: string, isWanted: (run: string) => boolean): Promise<number[]> {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const found: number[] = [];
  for (const [index, pid] of pids.entries()) {
    const run = runOf(pid, variable);
    if (run !== undefined && isWanted(run)) found.push(Number(pid));
    if (index % pidsAtOnce === pidsAtOnce - 1) await Bun.sleep(0);
  }
  return found;
}

/** The environment that the process was started with; a zombie has none. */
function runOf(pid: string, variable: string): string | undefined {
  try {
    const environ = readFileSync(`/proc/${pid}/environ`, "latin1");
    const start = environ.startsWith(`${variable}=`) ? 0 : environ.indexOf(`\0${variable}=`) + 1;
    if (start === 0 && !environ.startsWith(`${variable}=`)) return undefined;
    return environ.slice(start + variable.length + 1).split("\0", 1)[0];
  } catch {
    return undefined;
  }
}
