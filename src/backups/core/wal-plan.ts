import { type Base, beginOf, type Branch, segmentAt, type WalArchive, type WalPiece } from "./wal-objects.ts";

/** The server knows of a cluster that runs: everything until `at` is in WAL before `to` of that segment. */
export interface WalMark {
  /** The cluster, as of `WalArchive`. */
  system: string;
  at: number;
  segment: string;
  to: number;
}

/** Times that can be restored from one base backup along one timeline, both ends included. Epoch milliseconds. */
export interface Stretch {
  from: number;
  to: number;
  base: Base;
  timeline: number;
  /** In the order in which they are replayed. */
  pieces: readonly WalPiece[];
}

interface Chain {
  pieces: WalPiece[];
  /** The position up to which it is whole. */
  end: number;
  /** Every commit until then is in it. */
  endedAt: number;
}

/** Pieces by the name of their segment. */
type Pieces = ReadonlyMap<string, readonly WalPiece[]>;

/** All times that can be restored, newest base backup first. */
export function stretchesOf(archive: WalArchive, mark?: WalMark): Stretch[] {
  const pieces: Pieces = Map.groupBy(archive.pieces, ({ segment }) => segment);
  // One timeline may have been shipped twice, by the pod that was promoted and by those that follow it.
  const branches = [...new Map(archive.branches.map((one) => [one.timeline, one])).values()];
  return archive.bases
    .toSorted((a, b) => b.endedAt - a.endedAt)
    .flatMap((base) => ofBase(base, { pieces, branches, mark: mark?.system === archive.system ? mark : undefined }));
}

interface Known {
  pieces: Pieces;
  branches: readonly Branch[];
  mark: WalMark | undefined;
}

function ofBase(base: Base, known: Known): Stretch[] {
  const timelines = [base.timeline, ...known.branches.map(({ timeline }) => timeline)];
  return [...new Set(timelines)].flatMap((timeline) => {
    const chain = chainOf(base, timeline, known);
    if (chain === undefined || chain.end < base.stop) return [];
    const beganAt = known.branches.find((one) => one.timeline === timeline)?.at ?? 0;
    const next = nextOf(timeline, beganAt, known.branches);
    const stretch = (from: number, to: number, along = timeline, { pieces } = chain): Stretch[] =>
      from > to ? [] : [{ from: Math.max(from, base.endedAt), to, base, timeline: along, pieces }];
    const from = Math.max(beganAt, base.endedAt);
    const end = Math.max(chain.endedAt, base.endedAt);
    if (next === undefined) {
      return stretch(from, isAll(chain, timeline, base, known.mark) ? Math.max(end, known.mark?.at ?? 0) : end);
    }
    const until = next.at - 1;
    // A restore in place leaves it far from its end, which says nothing about what was written after what is here.
    const isLast =
      next.parent === timeline && chain.end <= segmentBegin(next.left, base.segmentBytes) + base.segmentBytes;
    if (!isLast) return stretch(from, Math.min(end, until));
    // Nothing was written on this timeline between its end and the begin of the next one.
    if (chain.end >= next.left) return stretch(from, until);
    // The next one has all that was promoted, which may be more than was shipped of this one.
    const longer = chainOf(base, next.timeline, known);
    const more = longer === undefined ? [] : stretch(Math.max(from, end), until, next.timeline, longer);
    return [...stretch(from, Math.min(end, until)), ...more];
  });
}

/** The timeline that took this one's place. */
function nextOf(timeline: number, beganAt: number, branches: readonly Branch[]): Branch | undefined {
  return branches
    .filter((one) => one.timeline !== timeline && one.at >= beganAt && one.timeline > timeline)
    .sort((a, b) => a.at - b.at)[0];
}

/** Whether a chain holds everything that the cluster had written by its mark. */
function isAll({ end }: Chain, timeline: number, { segmentBytes }: Base, mark: WalMark | undefined): boolean {
  if (mark === undefined || Number.parseInt(mark.segment.slice(0, 8), 16) !== timeline) return false;
  return end >= beginOf(mark.segment, segmentBytes) + mark.to;
}

/** The WAL from a base backup along a timeline; undefined where it does not reach that timeline whole. */
function chainOf(base: Base, timeline: number, { pieces, branches }: Known): Chain | undefined {
  const { segmentBytes } = base;
  const way = wayTo(timeline, base, branches);
  if (way === undefined) return undefined;
  const chain: Chain = { pieces: [], end: segmentBegin(base.start, segmentBytes), endedAt: 0 };
  for (const { timeline: at, left } of way) {
    // The segment in which a timeline ends is the first one of the next.
    const until = left === undefined ? Number.POSITIVE_INFINITY : segmentBegin(left, segmentBytes);
    while (chain.end < until) {
      const begin = segmentBegin(chain.end, segmentBytes);
      const found = wholeOf(pieces.get(segmentAt(at, begin, segmentBytes)) ?? []);
      chain.pieces.push(...found);
      chain.end = begin + (found.at(-1)?.to ?? 0);
      chain.endedAt = Math.max(chain.endedAt, ...found.map((piece) => piece.at));
      if (chain.end < begin + segmentBytes) break;
    }
    if (chain.end < until && left !== undefined) return undefined;
  }
  return chain;
}

const segmentBegin = (position: number, segmentBytes: number) => Math.floor(position / segmentBytes) * segmentBytes;

/** The fewest pieces that hold a segment from its begin on, as far as they go. */
function wholeOf(pieces: readonly WalPiece[]): WalPiece[] {
  const found: WalPiece[] = [];
  let at = 0;
  while (true) {
    const next = pieces.filter(({ from, to }) => from === at && to > at).sort((a, b) => b.to - a.to || b.at - a.at)[0];
    if (next === undefined) return found;
    found.push(next);
    at = next.to;
  }
}

/** The timelines from that of a base backup to another one, each with where the next leaves it. */
function wayTo(timeline: number, base: Base, branches: readonly Branch[]) {
  const way: { timeline: number; left: number | undefined }[] = [{ timeline, left: undefined }];
  for (let at = timeline; at !== base.timeline;) {
    const branch = branches.find((one) => one.timeline === at);
    if (branch === undefined || branch.parent >= at) return undefined;
    // A base backup that was made after the branch is not on it.
    if (branch.parent === base.timeline && branch.left < base.stop) return undefined;
    at = branch.parent;
    way.unshift({ timeline: at, left: branch.left });
  }
  return way;
}

/** Times that belong together, oldest first; between them are gaps. */
export function rangesOf(stretches: readonly Stretch[]): { from: number; to: number }[] {
  const ranges: { from: number; to: number }[] = [];
  for (const { from, to } of stretches.toSorted((a, b) => a.from - b.from)) {
    const last = ranges.at(-1);
    if (last !== undefined && from <= last.to + 1) last.to = Math.max(last.to, to);
    else ranges.push({ from, to });
  }
  return ranges;
}

/** The newest time that can be restored, and not after `until`. */
function newestOf(stretches: readonly Stretch[], until = Number.POSITIVE_INFINITY): number | undefined {
  const ends = stretches.flatMap(({ from, to }) => (from <= until ? [Math.min(to, until)] : []));
  return ends.length === 0 ? undefined : Math.max(...ends);
}

/** What restores a time: from the newest base backup before it. */
export function stretchFor(stretches: readonly Stretch[], at: number): Stretch | undefined {
  return stretches.filter(({ from, to }) => from <= at && at <= to).sort((a, b) => b.base.endedAt - a.base.endedAt)[0];
}

/** The newest state of a database that its target holds. */
export interface NewestState {
  /** Which base backup it begins with. */
  snapshot: string;
  at: number;
  /** What a restore gives as its time; undefined for all that there is. */
  until: number | undefined;
  /** Packed, at the target. */
  bytes: number;
}

/** The newest state that is not after `until`; undefined where there is none. */
export function newestState(
  all: readonly Stretch[],
  { files, until }: { files: readonly { path: string; bytes: number }[]; until: number | undefined },
): NewestState | undefined {
  const at = newestOf(all, until);
  const stretch = at === undefined ? undefined : stretchFor(all, at);
  if (at === undefined || stretch === undefined) return undefined;
  const pieces = new Set(stretch.pieces.map(({ path }) => path));
  const taken = files.filter(({ path }) => pieces.has(path) || path.startsWith(`${stretch.base.folder}/`));
  const bytes = taken.reduce((sum, file) => sum + file.bytes, 0);
  return { snapshot: stretch.base.label, at, until: at === newestOf(all) ? undefined : at, bytes };
}
