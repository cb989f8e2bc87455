import { lineCharactersMax } from "./line.ts";

/** A line as Docker's json-file driver wrote it. */
export interface DockerLine {
  /** Epoch milliseconds. */
  at: number;
  stream: "stdout" | "stderr";
  text: string;
}

interface Entry {
  log: string;
  stream: string;
  time: string;
}

interface DockerEntries {
  /**
   * Takes one entry of the file, without its line break. What is not an entry, such as the torn end of a file after a
   * power cut, is left out.
   */
  push(entry: string): void;
  /** Lines that are complete, in order: nothing while the end of one is still to come. */
  take(): DockerLine[];
  /** Whether the end of some line is still to come. */
  isPartial(): boolean;
  /** The end does not come: what is there counts as a line. */
  giveUp(): void;
}

/** Puts lines together that Docker cuts at 16 KiB. While one is incomplete, those of the other stream wait too. */
export function createDockerEntries(): DockerEntries {
  let done: DockerLine[] = [];
  const open = new Map<string, DockerLine>();
  const times = createTimeReader();
  const close = (line: DockerLine, whole: string) => {
    line.text = (whole.endsWith("\r") ? whole.slice(0, -1) : whole).slice(0, lineCharactersMax);
  };
  return {
    push(text) {
      const entry = entryOf(text);
      if (entry === undefined) return;
      const isEnd = entry.log.endsWith("\n");
      const part = isEnd ? entry.log.slice(0, -1) : entry.log;
      const begun = open.get(entry.stream);
      if (begun === undefined) {
        const at = times(entry.time);
        if (at === undefined) return;
        const line: DockerLine = { at, stream: entry.stream === "stderr" ? "stderr" : "stdout", text: part };
        done.push(line);
        if (isEnd) close(line, part);
        else open.set(entry.stream, line);
        return;
      }
      if (begun.text.length < lineCharactersMax) begun.text += part;
      if (!isEnd) return;
      close(begun, begun.text);
      open.delete(entry.stream);
    },
    take() {
      if (open.size > 0 || done.length === 0) return [];
      const lines = done;
      done = [];
      return lines;
    },
    isPartial: () => open.size > 0,
    giveUp() {
      for (const line of open.values()) close(line, line.text);
      open.clear();
    },
  };
}

function entryOf(text: string): Entry | undefined {
  try {
    const value = JSON.parse(text) as Partial<Entry> | null;
    if (typeof value?.log !== "string" || typeof value.time !== "string") return undefined;
    return { log: value.log, time: value.time, stream: value.stream ?? "stdout" };
  } catch {
    return undefined;
  }
}

/** Reads RFC 3339 times; neighbours mostly share their second. */
export function createTimeReader(): (text: string) => number | undefined {
  let second = "";
  let secondMs = 0;
  return (text) => {
    if (text.length < 20 || !text.endsWith("Z")) return whole(text);
    const head = text.slice(0, 19);
    if (head !== second) {
      const ms = Date.parse(`${head}Z`);
      if (Number.isNaN(ms)) return undefined;
      second = head;
      secondMs = ms;
    }
    return secondMs + (text.length > 20 ? Number(text.slice(20, -1).padEnd(3, "0").slice(0, 3)) : 0);
  };
}

function whole(text: string): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
