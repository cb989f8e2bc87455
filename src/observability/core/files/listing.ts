import type { FolderEntry } from "../../api/files.ts";

/**
 * Lists a folder with what every small image has: a shell, `stat` and `xargs`. A name may hold any character, so that
 * names end with a NUL, and stand in no line with anything else: the names, an empty one, how many there are, then the
 * targets of the links, an empty one, and a line of figures for each name.
 */
const script = `
m=$2
cd -- "$1" || exit 3
set -- ./* ./.[!.]* ./..?*
n=0
for f; do
  if [ -e "$f" ] || [ -L "$f" ]; then
    n=$((n+1))
    [ "$n" -gt "$m" ] || printf '%s\\0' "$f"
  fi
done
printf '\\0%s\\0' "$n"
n=0
for f; do
  if [ -e "$f" ] || [ -L "$f" ]; then
    n=$((n+1))
    if [ -L "$f" ] && [ "$n" -le "$m" ]; then printf 't'; readlink -n "$f"; printf '\\0'; fi
  fi
done
printf '\\0'
n=0
for f; do
  if [ -e "$f" ] || [ -L "$f" ]; then
    n=$((n+1))
    [ "$n" -gt "$m" ] || printf '%s\\0' "$f"
  fi
done | xargs -0 stat -c '%f %s %Y'
`;

/** A command for a container; `readListing` reads what it prints. */
export function listCommand(path: string, entriesMax: number): string[] {
  return ["sh", "-c", script, "sh", path, String(entriesMax)];
}

export interface Listing {
  entries: FolderEntry[];
  leftOut: number;
}

/** Undefined where the output is not that of the command, which a container is free to print. */
export function readListing(bytes: Uint8Array): Listing | undefined {
  const parts = new TextDecoder().decode(bytes).split("\0");
  const namesEnd = parts.indexOf("");
  const count = Number(parts[namesEnd + 1]);
  const linksEnd = parts.indexOf("", namesEnd + 2);
  if (namesEnd < 0 || linksEnd < 0 || !Number.isInteger(count) || parts.length !== linksEnd + 2) return undefined;
  const names = parts.slice(0, namesEnd).map((name) => name.slice("./".length));
  const targets = parts.slice(namesEnd + 2, linksEnd).map((target) => target.slice("t".length));
  const lines = (parts[linksEnd + 1] ?? "").split("\n").filter((line) => line !== "");
  if (lines.length !== names.length || count < names.length) return undefined;
  const entries: FolderEntry[] = [];
  for (const [index, name] of names.entries()) {
    const entry = entryOf(name, lines[index] ?? "");
    if (entry === undefined) return undefined;
    const target = entry.kind === "link" ? targets.shift() : undefined;
    entries.push(target === undefined ? entry : { ...entry, link_target: target });
  }
  return { entries: sorted(entries), leftOut: count - names.length };
}

/** The upper bits of `st_mode` (inode(7)). */
const kinds = new Map([
  [0o10, "file"],
  [0o4, "folder"],
  [0o12, "link"],
]);

function entryOf(name: string, line: string): FolderEntry | undefined {
  const [, hex = "", size, seconds] = /^([0-9a-f]+) (\d+) (-?\d+)$/.exec(line) ?? [];
  if (size === undefined || name === "" || name.includes("/")) return undefined;
  const mode = Number.parseInt(hex, 16);
  return {
    name,
    kind: kinds.get(Math.floor(mode / 0o10000)) ?? "other",
    size_bytes: Number(size),
    mode: (mode % 0o10000).toString(8).padStart(3, "0"),
    ...modified(Number(seconds) * 1_000),
  };
}

/** Left out where the container says a time that there is not. */
export function modified(at: number): { modified_at?: string } {
  return Math.abs(at) <= 8_640_000_000_000_000 ? { modified_at: new Date(at).toISOString() } : {};
}

/** Folders first, each by name. */
export function sorted(entries: readonly FolderEntry[]): FolderEntry[] {
  const rank = ({ kind }: FolderEntry) => (kind === "folder" ? 0 : 1);
  return entries.toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}
