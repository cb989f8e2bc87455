import { systemClock } from "./clock.ts";
import { sleepAbout } from "./sleep-about.ts";

/** As `jitPolicy` in build.ts: code is compiled after this many times the usual number of runs. */
export const idleJitPolicy = 32;

const lookMs = 1_000;
/** Shares of a core, all threads together. An idle server with 20 pods uses 0.01. */
const busyShare = 0.1;
const idleShare = 0.05;
/** CPU that is used between two collections, and how many times that of the last one it is at least. */
const collectAfterMs = 300;
const collectionTimes = 20;
/** A larger process is left to the collector: its collection would keep requests waiting. */
const residentMax = 200 * 1024 * 1024;

/** Compiles code as usual from now on: for a process that ends soon. */
export function normalJit(): void {
  Bun.unsafe.setJITPolicy(1);
}

interface LoadParts {
  setPolicy(scale: number): void;
  collect(): void;
  residentBytes(): number;
  /** What the process has used so far. */
  cpuMs(): number;
  /** Steady. */
  nowMs(): number;
}

const real: LoadParts = {
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
 * now and then on a timer stays in the interpreter, which under load would cost 20 % more CPU. What work has left is collected
 * once it is over: by itself the collector waits for more work. Returns what looks again, once a second by itself, and what
 * ends it.
 */
export function followLoad(parts: LoadParts = real): { look(): void; stop(): void } {
  const { setPolicy, collect, residentBytes, cpuMs, nowMs } = parts;
  let [cpu, at] = [cpuMs(), nowMs()];
  let collectAtCpu = cpu + collectAfterMs;
  let isBusy = false;
  const look = () => {
    const [newCpu, now] = [cpuMs(), nowMs()];
    const share = (newCpu - cpu) / (now - at);
    [cpu, at] = [newCpu, now];
    if (share > busyShare !== isBusy) {
      isBusy = !isBusy;
      setPolicy(isBusy ? 1 : idleJitPolicy);
    }
    if (share > idleShare || cpu < collectAtCpu || residentBytes() > residentMax) return;
    collect();
    const after = cpuMs();
    collectAtCpu = after + Math.max(collectAfterMs, collectionTimes * (after - cpu));
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
