/** Where a path of a container really lies, and what that means for a file in it. */
export interface Mount {
  type: string;
  source: string;
  destination: string;
  rw: boolean;
}

/** The steps from the root to a folder, each with its path. */
export function crumbs(path: string): { name: string; path: string }[] {
  const names = path.split("/").filter((name) => name !== "");
  return [
    { name: "/", path: "/" },
    ...names.map((name, index) => ({ name, path: `/${names.slice(0, index + 1).join("/")}` })),
  ];
}

export function below(folder: string, name: string): string {
  return folder === "/" ? `/${name}` : `${folder}/${name}`;
}

/** A name as one line: what moves a cursor or ends a line is shown as its picture. */
export function shownName(name: string): string {
  return Array.from(name, (char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return /[\u0080-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/.test(char) ? "\ufffd" : char;
  }).join("");
}

/** The mount that a path lies on: the longest one above it. */
export function mountOf(path: string, mounts: readonly Mount[]): Mount | undefined {
  const above = mounts.filter(({ destination }) => path === destination || path.startsWith(below(destination, "")));
  return above.toSorted((a, b) => b.destination.length - a.destination.length)[0];
}

/** What becomes of a file that is written to a folder. */
export function fateOf(folder: string, mounts: readonly Mount[]): { text: string; ends: boolean } {
  const mount = mountOf(folder, mounts);
  if (mount === undefined || mount.type === "tmpfs") {
    const where = mount === undefined ? "lies on no volume" : "lies in memory";
    return { text: `${shownName(folder)} ${where}: what is written there is gone with the replica`, ends: true };
  }
  const where = `${mount.destination} (${mount.type === "volume" ? `volume ${mount.source}` : "from the server"})`;
  if (!mount.rw) return { text: `${shownName(folder)} lies on ${where}, which cannot be written to`, ends: true };
  return {
    text: `${shownName(folder)} lies on ${where}: what is written there stays when the replica goes`,
    ends: false,
  };
}

/** The text of bytes; undefined where they are not text. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    // A part of a file may end within a letter.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}
