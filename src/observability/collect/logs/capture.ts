import { type FileWatch, watchOnce } from "../../../base/machine/log-file.ts";
import type { Log } from "../../../base/words/log.ts";
import { levelOf } from "../../core/logs/level.ts";
import type { LogApp, LogSource, NewLine } from "../../core/logs/line.ts";
import { createSampler, type Sampler, type SamplingLimits } from "../../core/logs/sampling.ts";
import { createTail, type Tail, type TailPosition } from "./tail.ts";

/** A container whose output is kept. */
export interface LoggedContainer {
  app: LogApp;
  source: LogSource;
  /** File of Docker's json-file driver. */
  path: string;
  running: boolean;
}

/** Where lines go. */
interface LineSink {
  positions(): Map<string, TailPosition>;
  add(app: LogApp, line: NewLine): void;
  reached(app: LogApp, container: string, position: TailPosition): void;
  flushApp(app: LogApp): void;
  hasRoom(): boolean;
}

export interface CaptureLimits extends SamplingLimits {
  /** Bytes of one container in one turn, so that none waits for another. */
  turnBytes: number;
  /** Lines that are older than this are not kept. */
  ageMs: number;
  /** How often a container is looked at. */
  lookMs: number;
  /**
   * A container that has written nothing for `quietMs` is looked at every `quietLookMs`, all such at the same moments, and as
   * soon as it writes; every `watchedLookMs` where each change of its file is noticed.
   */
  quietLookMs: number;
  watchedLookMs: number;
  quietMs: number;
}

interface CaptureOptions {
  sink: LineSink;
  limits: CaptureLimits;
  log: Log;
  now: () => number;
  steady: () => number;
  /** Called when a quiet container has written something: a turn is due at once. */
  onWrite?: () => void;
  /** Another one in tests. */
  watchFile?: typeof watchOnce;
}

interface Reading {
  container: LoggedContainer;
  tail: Tail;
  sampler: Sampler;
  /** Epoch milliseconds: lines before it are too old to be kept. */
  oldest: number;
  /** What it wrote is on disk, and it writes no more. */
  settled: boolean;
  failed: boolean;
  gone: boolean;
  /** Steady milliseconds: of the last line, and when to look again. */
  wroteAt: number;
  lookAt: number;
  /** The watch of its file while it is quiet. */
  watched: FileWatch | undefined;
}

export interface CaptureState {
  containers: number;
  linesRead: number;
  linesLeftOut: number;
  gaps: number;
  /** Containers whose log cannot be read, and why. */
  unreadable: { pod: string; why: string }[];
}

export interface Capture {
  /** The containers that there are now, all of them. */
  watch(containers: readonly LoggedContainer[]): void;
  /** One turn of each. True where there is more to read at once. */
  turn(): boolean;
  /** Milliseconds until the next turn is due. */
  pauseMs(): number;
  /** Reads what a container has written so far, to the end, and puts it on disk: it is about to be removed. */
  drain(id: string): void;
  state(): CaptureState;
  close(): void;
}

const drainTurnsMax = 400;
/** A timer may fire so much too early: the look is due all the same. */
const earlyMs = 5;

/** Reads the output of containers into a store. */
export function createCapture(options: CaptureOptions): Capture {
  const { sink, limits, log, now, steady, onWrite, watchFile = watchOnce } = options;
  const readings = new Map<string, Reading>();
  const known = sink.positions();
  const unreadable = new Map<string, string>();
  let linesRead = 0;
  let linesLeftOut = 0;
  let gaps = 0;

  const note = ({ container: { app, source } }: Reading, at: number, text: string) =>
    sink.add(app, { at, source, stream: "berth", level: "warn", text });

  const takeNote = (reading: Reading, whole: boolean) => {
    const left = reading.sampler.note(whole);
    if (left === undefined) return;
    linesLeftOut += left.lines;
    const seconds = Math.max((left.until - left.from) / 1e3, 0.001).toFixed(1);
    note(
      reading,
      left.until,
      `${left.lines} lines of ${seconds} s left out: the pod writes more than ${limits.linesPerSecond} lines/s`,
    );
  };

  /** True where there is more to read. */
  const step = (reading: Reading): boolean => {
    const { container, tail } = reading;
    reading.oldest = now() - limits.ageMs;
    const { lines, gap, isDone } = tail.step(limits.turnBytes, steady());
    linesRead += lines.length;
    if (gap !== undefined) {
      gaps += 1;
      note(
        reading,
        gap.until,
        `lines since ${new Date(gap.from).toISOString()} are missing: Docker deleted them before they could be read`,
      );
    }
    for (const { at, stream, text } of lines) {
      if (text === undefined) continue;
      sink.add(container.app, { at, source: container.source, stream, level: levelOf(text), text });
    }
    takeNote(reading, isDone && !container.running);
    const position = tail.position();
    if (lines.length > 0 && position !== undefined) sink.reached(container.app, container.source.id, position);
    if (lines.length > 0) reading.settled = false;
    if (isDone && !container.running && !reading.settled) {
      sink.flushApp(container.app);
      reading.settled = true;
    }
    return !isDone;
  };

  const guarded = (reading: Reading): boolean => {
    const { pod } = reading.container.source;
    try {
      const more = step(reading);
      unreadable.delete(pod);
      reading.failed = false;
      return more;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (!reading.failed)
        log.warn("the log of a container cannot be read", { pod, path: reading.container.path, why });
      reading.failed = true;
      unreadable.set(pod, why);
      return false;
    }
  };

  const wake = (reading: Reading) => {
    reading.watched?.end();
    reading.watched = undefined;
    reading.lookAt = 0;
  };

  const nextLookAt = (at: number, everyMs: number) => (Math.floor((at + earlyMs) / everyMs) + 1) * everyMs;

  /** Whether nothing is to be done for it now. */
  const rests = (reading: Reading, at: number): boolean => {
    const { container, gone, failed, settled, tail } = reading;
    if (gone || failed || !(container.running || settled)) return false;
    if (at < reading.lookAt - earlyMs) return true;
    if (!tail.isQuiet()) {
      wake(reading);
      reading.wroteAt = at;
      return false;
    }
    takeNote(reading, !container.running);
    if (at - reading.wroteAt < limits.quietMs) return true;
    // The first look after a watch has begun sees what was written just before.
    reading.lookAt = nextLookAt(at, reading.watched?.isSure === true ? limits.watchedLookMs : limits.quietLookMs);
    reading.watched ??= watchFile(container.path, () => {
      wake(reading);
      onWrite?.();
    });
    return true;
  };

  const begun = (container: LoggedContainer): Reading => {
    const sampler = createSampler(limits);
    const tail: Tail = createTail(
      container.path,
      known.get(container.source.id),
      (at) => at >= reading.oldest && sampler.keeps(at),
    );
    const reading: Reading = {
      ...{ container, tail, sampler, oldest: 0, settled: false, failed: false, gone: false },
      ...{ wroteAt: steady(), lookAt: 0, watched: undefined },
    };
    return reading;
  };

  const end = (id: string, reading: Reading) => {
    wake(reading);
    reading.tail.close();
    readings.delete(id);
    unreadable.delete(reading.container.source.pod);
    const position = reading.tail.position();
    if (position !== undefined) known.set(id, position);
  };

  return {
    watch(containers) {
      const there = new Set(containers.map(({ source }) => source.id));
      for (const [id, reading] of readings) if (!there.has(id)) reading.gone = true;
      for (const container of containers) {
        const { id } = container.source;
        const reading = readings.get(id);
        if (reading !== undefined) reading.container = container;
        else readings.set(id, begun(container));
      }
    },
    turn() {
      let more = false;
      const at = steady();
      for (const [id, reading] of readings) {
        if (rests(reading, at)) continue;
        // Nothing is lost: it waits in Docker's files.
        if (!sink.hasRoom()) return false;
        const unfinished = guarded(reading);
        more ||= unfinished;
        if (!reading.gone || unfinished) continue;
        takeNote(reading, true);
        sink.flushApp(reading.container.app);
        end(id, reading);
      }
      return more;
    },
    pauseMs() {
      const at = steady();
      let pause = Math.max(nextLookAt(at, limits.watchedLookMs) - at, limits.lookMs);
      for (const { lookAt } of readings.values()) pause = Math.min(pause, Math.max(lookAt - at, limits.lookMs));
      return pause;
    },
    drain(id) {
      const reading = readings.get(id) ?? [...readings.values()].find(({ container }) => container.source.pod === id);
      if (reading === undefined) return;
      for (let turns = 0; turns < drainTurnsMax && guarded(reading); turns++);
      takeNote(reading, true);
      sink.flushApp(reading.container.app);
    },
    state: () => ({
      containers: readings.size,
      linesRead,
      linesLeftOut,
      gaps,
      unreadable: [...unreadable].map(([pod, why]) => ({ pod, why })),
    }),
    close() {
      for (const reading of readings.values()) {
        wake(reading);
        reading.tail.close();
      }
      readings.clear();
    },
  };
}
