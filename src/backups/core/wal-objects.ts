/** A piece of one segment of WAL, as it was shipped: bytes `from` to `to` of the segment. */
export interface WalPiece {
  timeline: number;
  /** Name of the segment. */
  segment: string;
  from: number;
  to: number;
  /** Every commit until then is in this piece or before it: epoch milliseconds; 0 where that is not known. */
  at: number;
  path: string;
}

/** Where a timeline left the one before it. */
export interface Branch {
  timeline: number;
  parent: number;
  /** The position in WAL. */
  left: number;
  /** When it began. */
  at: number;
  path: string;
}

/** A base backup that is complete. */
export interface Base {
  label: string;
  timeline: number;
  /** Positions in WAL: what a restore needs from, and how far it has to replay before the cluster is consistent. */
  start: number;
  stop: number;
  /** Epoch milliseconds of its begin and end. */
  beganAt: number;
  endedAt: number;
  segmentBytes: number;
  /** Folder of its files. */
  folder: string;
  /** The file that says what it was made of. */
  about: string;
}

/** All that a target holds of one cluster. */
export interface WalArchive {
  /** The system identifier of PostgreSQL. */
  system: string;
  pieces: WalPiece[];
  branches: Branch[];
  bases: Base[];
}

const systemForm = "(\\d{1,20})";
const outboxForms = {
  piece: new RegExp(`^${systemForm}\\.([0-9A-F]{24}\\.\\d{1,10}\\.\\d{1,10}\\.\\d{1,15}\\.gz)$`),
  branch: new RegExp(`^${systemForm}\\.([0-9A-F]{8}\\.history\\.\\d{1,10}\\.[0-9A-F]{16}\\.\\d{1,15}\\.gz)$`),
  base: new RegExp(
    `^${systemForm}\\.base\\.(\\d{8}T\\d{6}Z)\\.((?:base|\\d{1,10})\\.tar\\.gz|backup_manifest|about(?:\\.[0-9A-F]+){5})$`,
  ),
};

/** A file of an outbox: where it belongs at the target. Undefined for what is not one. */
export function outboxFile(name: string, now: number): { kind: "wal" | "base" | "about"; path: string } | undefined {
  const [, system, rest] = outboxForms.piece.exec(name) ?? outboxForms.branch.exec(name) ?? [];
  // By the hour: the list of one folder stays short, and old folders can go.
  if (rest !== undefined) return { kind: "wal", path: `${system}/wal/${hourOf(now)}/${rest}` };
  const [, of, label, file] = outboxForms.base.exec(name) ?? [];
  if (file === undefined) return undefined;
  return { kind: file.startsWith("about.") ? "about" : "base", path: `${of}/base/${label}/${file}` };
}

/** `2026112914`, which sorts. */
export const hourOf = (ms: number): string => new Date(ms).toISOString().replaceAll(/\D/g, "").slice(0, 10);

/** What a target holds, by cluster, from the paths of its files. */
export function readArchives(paths: readonly string[]): WalArchive[] {
  const archives = new Map<string, WalArchive>();
  for (const path of paths) {
    const [system = "", room, folder = "", file = ""] = path.split("/");
    const archive = archives.get(system) ?? { system, pieces: [], branches: [], bases: [] };
    const found =
      room === "wal" ? readWal(archive, file, path) : room === "base" ? readBase(archive, folder, file, path) : false;
    if (found) archives.set(system, archive);
  }
  return [...archives.values()];
}

function readWal({ pieces, branches }: WalArchive, file: string, path: string): boolean {
  const [, segment, from, to, at] = /^([0-9A-F]{24})\.(\d+)\.(\d+)\.(\d+)\.gz$/.exec(file) ?? [];
  if (segment !== undefined) {
    const timeline = Number.parseInt(segment.slice(0, 8), 16);
    pieces.push({ timeline, segment, from: Number(from), to: Number(to), at: Number(at), path });
    return true;
  }
  const [, timeline, parent, left, began] =
    /^([0-9A-F]{8})\.history\.(\d+)\.([0-9A-F]{16})\.(\d+)\.gz$/.exec(file) ?? [];
  if (timeline === undefined || left === undefined) return false;
  branches.push({
    ...{ timeline: Number.parseInt(timeline, 16), parent: Number(parent) },
    ...{ left: positionOf(left), at: Number(began), path },
  });
  return true;
}

/** What `Date` takes, in epoch milliseconds. */
const timeMost = 8.64e15;

/** PostgreSQL has segments of 1 MiB to 1 GiB, in powers of two. With others the steps along WAL may come to no end. */
function isSegmentSize(bytes: number): boolean {
  return bytes >= 2 ** 20 && bytes <= 2 ** 30 && Number.isInteger(Math.log2(bytes));
}

/** The container names what it leaves: a base backup that cannot be one is none. */
function readBase({ bases }: WalArchive, label: string, file: string, path: string): boolean {
  const [, timeline, start = "", stop = "", ended, segmentBytes] =
    /^about\.(\d+)\.([0-9A-F]{16})\.([0-9A-F]{16})\.(\d+)\.(\d+)$/.exec(file) ?? [];
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(label) ?? [];
  if (timeline === undefined || year === undefined) return false;
  const beganAt = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(beganAt) || !(Number(ended) <= timeMost) || !isSegmentSize(Number(segmentBytes))) return false;
  bases.push({
    ...{ label, timeline: Number(timeline), start: positionOf(start), stop: positionOf(stop) },
    beganAt,
    ...{ endedAt: Number(ended), segmentBytes: Number(segmentBytes) },
    ...{ folder: path.slice(0, path.lastIndexOf("/")), about: path },
  });
  return true;
}

const half = 2 ** 32;

/** A position in WAL from its 16 digits. */
const positionOf = (digits: string) =>
  Number.parseInt(digits.slice(0, 8), 16) * half + Number.parseInt(digits.slice(8), 16);

/** Where a segment begins. */
export const beginOf = (segment: string, segmentBytes: number): number =>
  Number.parseInt(segment.slice(8, 16), 16) * half + Number.parseInt(segment.slice(16), 16) * segmentBytes;

/** Name of the segment of a timeline that begins at a position. */
export function segmentAt(timeline: number, begin: number, segmentBytes: number): string {
  const digits = (value: number) => value.toString(16).toUpperCase().padStart(8, "0");
  return digits(timeline) + digits(Math.floor(begin / half)) + digits(Math.floor((begin % half) / segmentBytes));
}

const dayMs = 86_400_000;

/**
 * Paths that nothing within the last `keepMs` needs: base backups beside the newest one that is as old as that, WAL from
 * before the oldest that stays, pieces of segments that are there as a whole. Of a cluster that another one replaced
 * nothing stays once all of it is that old. `paths` is everything that the target holds of the database.
 */
export function expiredPaths(
  archives: readonly WalArchive[],
  paths: readonly string[],
  { now, keepMs }: { now: number; keepMs: number },
): string[] {
  const endOf = ({ bases, pieces }: WalArchive) =>
    Math.max(0, ...bases.map(({ endedAt }) => endedAt), ...pieces.map(({ at }) => at));
  const newest = archives.toSorted((a, b) => endOf(b) - endOf(a))[0];
  return archives.flatMap((archive) => {
    const own = paths.filter((path) => path.startsWith(`${archive.system}/`));
    if (archive !== newest && endOf(archive) < now - keepMs) return own;
    return expiredOf(archive, own, { now, keepMs });
  });
}

function expiredOf(
  { system, bases, pieces }: WalArchive,
  own: readonly string[],
  { now, keepMs }: { now: number; keepMs: number },
): string[] {
  const byAge = bases.toSorted((a, b) => a.endedAt - b.endedAt);
  const oldest = byAge.findLast(({ endedAt }) => endedAt <= now - keepMs) ?? byAge[0];
  if (oldest === undefined) return [];
  const whole = new Map(
    pieces.filter(({ from, to }) => from === 0 && to === oldest.segmentBytes).map((one) => [one.segment, one.path]),
  );
  const needless = new Set(
    pieces.flatMap(({ segment, path }) => (whole.has(segment) && whole.get(segment) !== path ? [path] : [])),
  );
  const firstHour = hourOf(oldest.beganAt);
  return own.filter((path) => {
    const [, room, folder = "", file = ""] = path.slice(0).split("/");
    if (room === "wal") return needless.has(path) || (folder < firstHour && !file.includes(".history."));
    const known = bases.find(({ label }) => label === folder);
    if (known !== undefined) return known.endedAt < oldest.endedAt;
    // What a base backup that came to no end has left.
    return path.startsWith(`${system}/base/`) && folder < labelOf(now - dayMs);
  });
}

/** `20261129T005719Z`, which sorts. */
const labelOf = (ms: number) => `${new Date(ms).toISOString().replaceAll(/[-:]/g, "").slice(0, 15)}Z`;
