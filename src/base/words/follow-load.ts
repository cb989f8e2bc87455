import { systemClock } from "./clock.ts";
import { sleepAbout } from "./sleep-about.ts";

/** As `jitPolicy` in build.ts: code is compiled after this many times the usual number of runs. */
export const idleJitPolicy = 32;

const lookMs = 1_000;
/** Shares of a core, all threads together. An idle server with 20 pods uses 0.005. */
const busyShare = 0.1;
const idleShare = 0.05;
/**
 * Work between two collections in milliseconds of CPU, and how many times that of the last one it is at least. What an idle
 * process uses counts little: it leaves little.
 */
const collectAfterMs = 150;
const collectionTimes = 20;
const idleCounts = 0.4;
/** Code in memory above this is dropped, which takes 2 ms, and the page faults of what runs next; what runs idly takes less. */
const codeMax = 36 * 1024 * 1024;
const dropApartMs = 10_000;
/** A larger process is left to the collector: its collection would keep requests waiting. */
const residentMax = 200 * 1024 * 1024;

/** Compiles code as usual from now on: for a process that ends soon. */
export function normalJit(): void {
  Bun.unsafe.setJITPolicy(1);
}

interface LoadParts {
  setPolicy(scale: number): void;
  collect(): void;
  /** Gives back the memory of the program's own code. */
  dropCode(): void;
  residentBytes(): number;
  /** What of it are files: the program's own, nearly all. */
  codeBytes(): number;
  /** What the process has used so far. */
  cpuMs(): number;
  /** Steady. */
  nowMs(): number;
}

const real: Omit<LoadParts, "dropCode" | "codeBytes"> = {
  setPolicy: (scale) => Bun.unsafe.setJITPolicy(scale),
  collect: () => void Bun.gc(true),
  residentBytes: () => process.memoryUsage.rss(),
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
  nowMs: () => performance.now(),
};

/**
 * Keeps an idle server small. Code is compiled as usual while the process is busy, and later than usual otherwise: what runs
 * now and then on a timer stays in the interpreter, which under load would cost 20 % more CPU. What the start and later work
 * have left is collected once they are over, because by itself the collector waits for more work, and the code that they ran is
 * dropped. Returns what looks again, once a second by itself, and what ends it.
 */
export function followLoad(parts: Pick<LoadParts, "dropCode" | "codeBytes"> & Partial<LoadParts>): {
  look(): void;
  stop(): void;
} {
  const { setPolicy, collect, dropCode, residentBytes, codeBytes, cpuMs, nowMs } = { ...real, ...parts };
  let [cpu, at] = [cpuMs(), nowMs()];
  /** The start counts as work, and how long its collection takes says nothing about later ones. */
  let isStart = true;
  let [uncollectedMs, collectAfter] = [collectAfterMs, collectAfterMs];
  let isBusy = false;
  let droppedAt = Number.NEGATIVE_INFINITY;
  const look = () => {
    const [newCpu, now] = [cpuMs(), nowMs()];
    const share = (newCpu - cpu) / (now - at);
    const workMs = (newCpu - cpu) * (share > idleShare ? 1 : idleCounts);
    [uncollectedMs, cpu, at] = [uncollectedMs + workMs, newCpu, now];
    if (share > busyShare !== isBusy) {
      isBusy = !isBusy;
      setPolicy(isBusy ? 1 : idleJitPolicy);
    }
    if (share > idleShare || residentBytes() > residentMax) return;
    if (uncollectedMs >= collectAfter) {
      collect();
      collectAfter = Math.max(collectAfterMs, isStart ? 0 : collectionTimes * (cpuMs() - cpu));
      [uncollectedMs, isStart, cpu] = [0, false, cpuMs()];
    }
    if (now - droppedAt < dropApartMs || codeBytes() <= codeMax) return;
    dropCode();
    [droppedAt, cpu] = [now, cpuMs()];
  };
  const over = new AbortController();
  const run = async () => {
    while (!over.signal.aborted) {
      await sleepAbout(systemClock, lookMs, over.signal);
      if (!over.signal.aborted) look();
    }
  };
  void run();
  return { look, stop: () => over.abort() };
}
