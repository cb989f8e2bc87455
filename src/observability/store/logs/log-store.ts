import { rmSync } from "node:fs";
import type { Log } from "../../../base/words/log.ts";
import { appKey, type LogApp, type NewLine } from "../../core/logs/line.ts";
import { toDrop, type DropReason, type RetentionLimits } from "../../core/logs/retention.ts";
import { type LogPosition, packBlock } from "./block.ts";
import { compact } from "./compact.ts";
import { freeSpace, makeFolder, readFolder, segmentPath, syncFolder } from "./folder.ts";
import { appendBlock, CorruptBlock, type Segment, type StoredBlock } from "./segment.ts";

const hourMs = 3_600_000;

export interface LogStoreLimits extends RetentionLimits {
  blockBytes: number;
  blockMs: number;
  waitingBytesMax: number;
  packLevel: number;
  packLevelBehind: number;
  packLevelLast: number;
  segmentBytesMax: number;
}

interface LogStoreOptions {
  folder: string;
  limits: LogStoreLimits;
  log: Log;
  now: () => number;
  /** Free space of the disk; the real one unless a test says otherwise. */
  space?: (folder: string) => { freeBytes: number; totalBytes: number };
}

/** Lines of one app that wait for their block. */
interface Waiting {
  app: LogApp;
  lines: NewLine[];
  bytes: number;
  /** Epoch milliseconds when the first of them came. */
  since: number;
  /** How far each container was read to get them. */
  positions: Record<string, LogPosition>;
}

export interface LogStoreState {
  segments: number;
  bytes: number;
  /** Bytes as the pods wrote them. */
  rawBytes: number;
  lines: number;
  waitingLines: number;
  oldest: number | undefined;
  damaged: number;
  dropped: Record<DropReason, number>;
  /** Why nothing can be written at the moment. */
  problem: string | undefined;
}

export interface LogStore {
  /** Where reading a container goes on; by container, from what is on disk. */
  positions(): Map<string, LogPosition>;
  add(app: LogApp, line: NewLine): void;
  /** Everything up to here was read from a container: lines that were added, and those left out. */
  reached(app: LogApp, container: string, position: LogPosition): void;
  /** Writes what is full or has waited long enough; `all`: everything. `behind`: faster, less tightly. */
  flush(how: { all?: boolean; behind?: boolean }): void;
  /** Writes what waits of one app. */
  flushApp(app: LogApp): void;
  /** Whether there is room for more lines in memory. */
  hasRoom(): boolean;
  segments(): Iterable<Segment>;
  waiting(): Iterable<Waiting>;
  /** Changes when a block that was handed out is somewhere else now. */
  generation(): number;
  /** Takes a damaged block out of use. The others of its file stay. */
  damage(error: CorruptBlock): void;
  /** Drops what is too old or too much, and packs what is over. */
  sweep(ageFrom: number | undefined): void;
  state(): LogStoreState;
  blocks(): StoredBlock[];
}

/** Opens the store, reading the heads of all that is there. */
export function openLogStore({ folder, limits, log, now, space = freeSpace }: LogStoreOptions): LogStore {
  const found = readFolder(folder);
  for (const { path, bytes } of found.torn)
    log.warn("an unfinished write at the end of a log file is cut off", { path, bytes });
  for (const path of found.damaged) log.error("a damaged log file is set aside", { path });
  for (const { path, damaged } of found.segments)
    if (damaged.length > 0) log.error("a log file is damaged in places", { path, places: damaged.length });
  const segments = new Set<Segment>(found.segments);
  const open = new Map<string, Segment>();
  const waiting = new Map<string, Waiting>();
  const dropped: Record<DropReason, number> = { age: 0, app: 0, total: 0, disk: 0 };
  let waitingBytes = 0;
  let generation = 0;
  let damaged = found.damaged.length + found.segments.reduce((sum, { damaged }) => sum + damaged.length, 0);
  let problem: string | undefined;
  const blocks = () => [...segments].flatMap((segment) => segment.blocks);
  let order = blocks().reduce((last, { head }) => Math.max(last, head.order ?? 0), 0);

  const waitingOf = (app: LogApp): Waiting => {
    const key = appKey(app);
    let own = waiting.get(key);
    if (own === undefined) {
      own = { app, lines: [], bytes: 0, since: now(), positions: {} };
      waiting.set(key, own);
    }
    return own;
  };

  const segmentFor = (app: LogApp): Segment => {
    const key = appKey(app);
    const hourAt = Math.floor(now() / hourMs) * hourMs;
    const current = open.get(key);
    if (current !== undefined && current.hourAt === hourAt && current.bytes < limits.segmentBytesMax) return current;
    if (current !== undefined) seal(current);
    const taken = new Set([...segments].map(({ path }) => path));
    let serial = 0;
    while (taken.has(segmentPath(folder, app, { hourAt, serial }))) serial += 1;
    const segment: Segment = {
      app,
      path: segmentPath(folder, app, { hourAt, serial }),
      hourAt,
      bytes: 0,
      blocks: [],
      damaged: [],
    };
    makeFolder(segment.path);
    open.set(key, segment);
    segments.add(segment);
    return segment;
  };

  /** Many small blocks, one for each half minute, become few. */
  const seal = (segment: Segment) => {
    open.delete(appKey(segment.app));
    try {
      if (compact(segment, limits)) generation += 1;
    } catch (error) {
      if (error instanceof CorruptBlock) damage(error);
      else log.warn("a log file cannot be packed", { path: segment.path, error });
    }
  };

  const damage = ({ block, message }: CorruptBlock) => {
    const { segment, head } = block;
    if (!segment.blocks.includes(block)) return;
    segment.blocks = segment.blocks.filter((one) => one !== block);
    segment.damaged.push({ from: head.from, until: head.until, head });
    // Its length may not be what it was, and a block that is written tells its place by that.
    if (open.get(appKey(segment.app)) === segment) open.delete(appKey(segment.app));
    damaged += 1;
    log.error("lines of a damaged block cannot be read", { why: message, lines: head.lines });
  };

  const drop = (segment: Segment, reason: DropReason) => {
    segments.delete(segment);
    if (open.get(appKey(segment.app)) === segment) open.delete(appKey(segment.app));
    rmSync(segment.path, { force: true });
    dropped[reason] += 1;
    generation += 1;
  };

  const write = (own: Waiting, level: number): boolean => {
    if (own.lines.length === 0) return true;
    try {
      const segment = segmentFor(own.app);
      const isNew = segment.bytes === 0;
      appendBlock(segment, packBlock(own.lines, { positions: own.positions, order: order + 1 }, level));
      order += 1;
      if (isNew) syncFolder(segment.path);
    } catch (error) {
      if (problem === undefined) log.error("log lines cannot be written and wait in memory", { error });
      problem = error instanceof Error ? error.message : String(error);
      return false;
    }
    if (problem !== undefined) log.info("log lines are written again");
    problem = undefined;
    waitingBytes -= own.bytes;
    waiting.delete(appKey(own.app));
    return true;
  };

  return {
    positions() {
      const positions = new Map<string, LogPosition>();
      // Names of files do not tell which is newer: several may be of one hour, and clocks are set back.
      for (const { head } of blocks().toSorted((a, b) => (a.head.order ?? 0) - (b.head.order ?? 0)))
        for (const [container, position] of Object.entries(head.positions)) positions.set(container, position);
      return positions;
    },
    add(app, line) {
      const own = waitingOf(app);
      const bytes = line.text.length + 1;
      own.lines.push(line);
      own.bytes += bytes;
      waitingBytes += bytes;
    },
    reached(app, container, position) {
      waitingOf(app).positions[container] = position;
    },
    flush({ all = false, behind = false }) {
      const level = behind ? limits.packLevelBehind : limits.packLevel;
      const tight = waitingBytes > limits.waitingBytesMax / 2;
      for (const own of [...waiting.values()]) {
        const due = own.bytes >= limits.blockBytes || now() - own.since >= limits.blockMs || tight;
        if ((all || due) && !write(own, level)) return;
      }
    },
    flushApp(app) {
      const own = waiting.get(appKey(app));
      if (own !== undefined) write(own, limits.packLevel);
    },
    hasRoom: () => waitingBytes < limits.waitingBytesMax,
    segments: () => segments,
    waiting: () => waiting.values(),
    generation: () => generation,
    damage,
    sweep(ageFrom) {
      const hourAt = Math.floor(now() / hourMs) * hourMs;
      for (const segment of [...open.values()]) if (segment.hourAt !== hourAt) seal(segment);
      const kept = [...segments].map((segment) => ({ ...keptOf(segment), segment }));
      for (const { segment, reason } of toDrop(kept, limits, { ageFrom, disk: space(folder) })) {
        log.info("a log file is dropped", { path: segment.path, reason });
        drop(segment.segment, reason);
      }
    },
    state() {
      const all = blocks();
      const sum = (of: (block: StoredBlock) => number) => all.reduce((total, block) => total + of(block), 0);
      return {
        segments: segments.size,
        bytes: [...segments].reduce((total, { bytes }) => total + bytes, 0),
        rawBytes: sum(({ head }) => head.rawBytes),
        lines: sum(({ head }) => head.lines),
        waitingLines: [...waiting.values()].reduce((total, { lines }) => total + lines.length, 0),
        oldest: all.length === 0 ? undefined : all.reduce((least, { head }) => Math.min(least, head.from), Infinity),
        damaged,
        dropped: { ...dropped },
        problem,
      };
    },
    blocks,
  };
}

function keptOf(segment: Segment) {
  const until = [...segment.blocks.map(({ head }) => head), ...segment.damaged].reduce(
    (latest, part) => Math.max(latest, part.until),
    0,
  );
  return { app: segment.app, path: segment.path, bytes: segment.bytes, untilMs: until };
}
