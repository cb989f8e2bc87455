import type { Snapshot } from "./restic-words.ts";

/** What `restic check` finds wrong. */
export interface Faults {
  /** Packs that are missing, too short, or altered: the data in them is lost. */
  packs: string[];
  /** Folders of copies that cannot be read, by their ids in the repository or the first letters of those. */
  trees: string[];
  /** Files that lack data, each with the folder that it is in. */
  files: { tree: string; name: string }[];
  /** Everything else, such as an index that cannot be read. */
  others: string[];
}

/** Reads what `restic check` wrote to stderr. A pack that no index names is not a fault: the next prune removes it. */
export function readFaults(said: string): Faults {
  const faults: Faults = { packs: [], trees: [], files: [], others: [] };
  let tree: string | undefined;
  for (const line of said.split("\n")) {
    const [, of] = /^error for tree ([0-9a-f]{8,64}):/.exec(line) ?? [];
    const [, pack] = /^(?:error: )?[Pp]ack ([0-9a-f]{8,64})\b/.exec(line) ?? [];
    const [, quoted] = /^\s+tree [0-9a-f]+: file ("(?:[^"\\]|\\.)*") blob [0-9a-f]+ /.exec(line) ?? [];
    if (of !== undefined) tree = of;
    else if (pack !== undefined && !line.includes("not referenced")) faults.packs.push(pack);
    else if (/^error: /.test(line)) faults.others.push(line.slice("error: ".length));
    else if (tree !== undefined && quoted !== undefined) faults.files.push({ tree, name: unquoted(quoted) });
    else if (tree !== undefined && /^\s+\S/.test(line)) faults.trees.push(tree);
  }
  return { ...faults, packs: [...new Set(faults.packs)], trees: [...new Set(faults.trees)] };
}

export const faultCount = ({ packs, trees, files, others }: Faults) =>
  packs.length + trees.length + files.length + others.length;

function unquoted(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    // Go writes other bytes than text as \x00.
    return quoted.slice(1, -1);
  }
}

/** Where folders are, of which `restic find --tree` was asked. */
export interface Places {
  rows: { tree: string; snapshot: string; path: string }[];
  /** Folders of which one below cannot be read, each with its snapshot. */
  cut: { tree: string; snapshot: string }[];
}

/** Reads what `restic find --json --tree` wrote, to stdout and to stderr; older versions write both among the JSON. */
export function readPlaces(stdout: string, stderr: string): Places {
  // No string of JSON, such as the name of a file, has a line break in it.
  const broken = /Unable to load tree ([0-9a-f]+) *\r?\n\s*\.\.\. which belongs to snapshot ([0-9a-f]+)\.?\n?/g;
  const listed = stdout.replace(broken, "");
  const json = listed.slice(Math.max(0, listed.search(/^\[/m)));
  const found = (parsed(json.slice(0, json.lastIndexOf("]") + 1)) ?? []) as Record<string, unknown>[];
  const rows = found.map(({ id, snapshot, path }) => ({
    ...{ tree: String(id), snapshot: String(snapshot), path: String(path) },
  }));
  const cut = [...`${stdout}\n${stderr}`.matchAll(broken)].map(([, tree = "", snapshot = ""]) => ({ tree, snapshot }));
  return { rows, cut };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A copy that cannot be restored whole. */
export interface DamagedCopy {
  id: string;
  at: number;
  tags: string[];
  /** Paths in it that are lost: a file, or with a slash at its end a folder of which a part below is lost. */
  missing: string[];
}

/** The copies that faults are in, oldest first, with what is lost of each. `places` are those of all folders of the faults. */
export function damagedCopies(
  snapshots: readonly Snapshot[],
  { files, trees }: Faults,
  { rows, cut }: Places,
): DamagedCopy[] {
  const isSame = (one: string, other: string) => one.startsWith(other) || other.startsWith(one);
  /** The folder at the top of a copy is in no other, so that no search finds it. */
  const tops = snapshots.flatMap(({ id, tree }) => (tree === undefined ? [] : [{ tree, snapshot: id, path: "" }]));
  const all = [...rows, ...tops];
  const missing = new Map<string, Set<string>>();
  const lose = (snapshot: string, path: string) => {
    const known = missing.get(snapshot) ?? new Set();
    missing.set(snapshot, known.add(path));
  };
  for (const { tree, name } of files)
    for (const one of all) if (isSame(one.tree, tree)) lose(one.snapshot, `${one.path}/${name}`);
  for (const tree of trees) for (const one of all) if (isSame(one.tree, tree)) lose(one.snapshot, `${one.path}/`);
  for (const { tree, snapshot } of cut) {
    const at = all.find((one) => one.snapshot === snapshot && isSame(one.tree, tree));
    lose(snapshot, `${at?.path ?? ""}/`);
  }
  return snapshots
    .flatMap(({ id, at, tags }) => {
      const lost = [...(missing.get(id) ?? [])].sort();
      return lost.length === 0 ? [] : [{ id, at, tags, missing: lost }];
    })
    .sort((a, b) => a.at - b.at);
}
