import { type Keep, parseKeep } from "../../base/pure/keep.ts";
import { Failure } from "../../base/wire/failure.ts";

/** `restic 0.14.0 compiled with …` → `0.14.0`; undefined for anything else. */
export function resticVersion(text: string): string | undefined {
  return /^restic (\d+\.\d+(?:\.\d+)?)\b/.exec(text.trim())?.[1];
}

/** One snapshot as restic lists it. */
export interface Snapshot {
  id: string;
  /** Epoch milliseconds. */
  at: number;
  tags: string[];
  /** Id of the folder at its top. */
  tree?: string | undefined;
  /** Parts of it are lost at the target: it cannot be restored whole. */
  isDamaged?: boolean | undefined;
}

/** The answer to `snapshots --json`. Fails `internal` for what is not one. */
export function readSnapshots(text: string): Snapshot[] {
  const rows: unknown = parsedJson(text);
  if (!Array.isArray(rows)) throw new Failure("internal", "restic listed no snapshots");
  return rows.flatMap((row: { id?: unknown; time?: unknown; tags?: unknown; tree?: unknown }): Snapshot[] => {
    const at = Date.parse(String(row.time));
    if (typeof row.id !== "string" || Number.isNaN(at)) return [];
    return [
      {
        id: row.id,
        at,
        tags: Array.isArray(row.tags) ? row.tags.map(String) : [],
        tree: typeof row.tree === "string" ? row.tree : undefined,
      },
    ];
  });
}

/** The answer to `forget --json`: ids of what it has removed. It says nothing where no snapshot was in question. */
export function readRemoved(text: string): string[] {
  const groups: unknown = text.trim() === "" ? [] : parsedJson(text);
  if (!Array.isArray(groups)) throw new Failure("internal", "restic did not say which copies it has removed");
  return groups.flatMap(({ remove }: { remove?: { id: string }[] | null }) => (remove ?? []).map(({ id }) => id));
}

/** The answer to `stats --json`, in bytes. Fails `internal` for what is not one. */
export function readSize(text: string): number {
  const row = parsedJson(text) as { total_size?: unknown } | undefined;
  if (typeof row?.total_size !== "number") throw new Failure("internal", "restic said no size of a copy");
  return row.total_size;
}

/** What a backup read and wrote, in bytes. */
export interface BackupSummary {
  snapshot: string;
  bytes: number;
  added: number;
}

/** The last line of `backup --json`; undefined where the backup did not come to its end. */
export function readSummary(text: string): BackupSummary | undefined {
  const line = text.split("\n").findLast((one) => one.includes('"message_type":"summary"'));
  if (line === undefined) return undefined;
  const row = (parsedJson(line) ?? {}) as Record<string, unknown>;
  if (typeof row.snapshot_id !== "string" || row.snapshot_id === "") return undefined;
  return { snapshot: row.snapshot_id, bytes: Number(row.total_bytes_processed), added: Number(row.data_added) };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Why restic failed, as far as somebody can act on it. */
export type ResticTrouble = "wrong_key" | "no_repository" | "locked" | "empty" | "other";

/** Reads it from the exit code of a version that has one for it, and from what restic said otherwise. */
export function troubleOf(said: string, code?: number): ResticTrouble {
  const byCode = troubleCodes[code ?? 0];
  if (byCode !== undefined) return byCode;
  if (/wrong password or no key found/.test(said)) return "wrong_key";
  if (/snapshot is empty$/m.test(said)) return "empty";
  if (/already locked|unable to create lock/.test(said)) return "locked";
  const isMissing = /no such file or directory|does not exist|NoSuchKey|not found|\b404\b|repository does not exist/i;
  // It asks "Is there a repository at the following location?" also where it could not connect.
  if (/unable to open config file|repository does not exist/.test(said) && isMissing.test(said)) return "no_repository";
  return "other";
}

const troubleCodes: Partial<Record<number, ResticTrouble>> = { 10: "no_repository", 11: "locked", 12: "wrong_key" };

/**
 * Tells from what restic says whether one request has failed for `stallMs` without an answer. A request that succeeds says
 * nothing, so each is followed by its name: several that fail now and then are a slow network, and no reason to end.
 * `now` is of a clock that is never set.
 */
export function createStallWatch(stallMs: number, now: () => number): (said: string) => boolean {
  const failing = new Map<string, { since: number; delayMs: number }>();
  return (said) =>
    said.split("\n").some((line) => {
      const [, request, delay] = /^(.*) returned error, retrying after (\S+?):/.exec(line) ?? [];
      if (request === undefined || delay === undefined) return false;
      const delayMs = goDuration(delay);
      const before = failing.get(request);
      // The pauses of one request grow, by chance a little less or more: a much shorter one is the first of another try.
      const isSame = before !== undefined && delayMs > before.delayMs / 3;
      const since = isSame ? before.since : now();
      failing.set(request, { since, delayMs });
      return now() - since > stallMs;
    });
}

/** `1m2.5s`, `1.08s` or `552.33ms` in milliseconds. */
function goDuration(text: string): number {
  const units: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1, µs: 0.001, ns: 0.000_001 };
  const parts = [...text.matchAll(/([\d.]+)(h|ms|m|s|µs|ns)/g)];
  return parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (units[unit] ?? 0), 0);
}

/**
 * Whether every file that `backup --json` could not read was gone when its turn came. Newer versions have the words of the
 * error, older ones its number in `Err`, or nothing: `isGone` gets the path of such a file, which may be relative.
 */
export function lacksOnlyVanished(said: string, isGone: (path: string) => boolean): boolean {
  const lines = said.split("\n").filter((line) => line.startsWith('{"message_type":"error"'));
  const hasVanished = (line: string) => {
    const row = parsedJson(line) as { error?: { Err?: unknown; message?: unknown }; item?: unknown } | undefined;
    const { Err: number, message } = row?.error ?? {};
    if (number !== undefined) return number === noEntry;
    return message === undefined ? isGone(String(row?.item)) : /no such file or directory$/.test(String(message));
  };
  return lines.length > 0 && lines.every(hasVanished);
}

/** ENOENT */
const noEntry = 2;

const causeCharactersMax = 400;

/** The line of what restic said that names the cause. `hide` takes secrets out before it is cut: a part of one is not found. */
export function causeOf(text: string, hide: (text: string) => string): string {
  const lines = text.split("\n").map((line) => line.trim());
  const full = lines.filter(
    (line) =>
      line !== "" && !/^(?:Is there a repository|repository \w+ opened|found \d+ old|.*signal \w+ received)/.test(line),
  );
  const locked = full.find((line) => line.includes("repository is already locked"));
  const said = locked ?? full.find((line) => line.startsWith("Fatal: ")) ?? full.at(-1) ?? "restic said nothing";
  // `Fatal: There were 3 errors`: each of them is in a line of its own.
  const [broken] = full.flatMap((line) => /^ignoring error for (.*)$/.exec(line)?.[1] ?? []);
  if (broken !== undefined && /^Fatal: There were \d+ errors/.test(said))
    return hide(`${said.replace("Fatal: There were ", "")}, the first of ${broken}`).slice(0, causeCharactersMax);
  // While it tries again: `Load(<config/0000000000>, 0, 0) returned error, retrying after 552ms: stat /x: not a directory`.
  const fatal = said.replace(/^.* returned error, retrying after \S+: /, "");
  const ssh = full.find((line) => line.startsWith("subprocess ssh: "));
  // restic may end before it has passed on what ssh said.
  if (ssh === undefined && fatal.includes("unable to start the sftp session"))
    return "ssh did not connect; what it says, as root: ssh -o BatchMode=yes USER@HOST true";
  return hide((ssh ?? fatal).replace(/^(?:Fatal|subprocess ssh): /, "")).slice(0, causeCharactersMax);
}

const keepFlags = {
  h: "--keep-hourly",
  d: "--keep-daily",
  w: "--keep-weekly",
  m: "--keep-monthly",
  y: "--keep-yearly",
};

/** `7d 4w 12m` as words of `forget`. The newest copy always stays. Fails `invalid`. */
export function keepWords(text: string): string[] {
  const read = parseKeep(text);
  if (!read.ok) throw new Failure("invalid", read.error);
  return ["--keep-last", "1", ...read.value.flatMap(({ unit, count }: Keep) => [keepFlags[unit], String(count)])];
}
