import type { LogLine } from "../../observability/api/log-search.ts";
import type { ShownLine } from "../text/lines.ts";
import { plainLine } from "../text/lines.ts";

export type TailState = "opening" | "live" | "lost";

interface TailEvents {
  /** Lines in order, at most `perTurnMax` of them; `skipped` were left out before them. */
  onLines: (lines: ShownLine[], skipped: number) => void;
  onState: (state: TailState) => void;
  /** The server refuses the search, with its reason: asking again would not help. */
  onRefused: (fault: string) => void;
}

/** A flood is shown in part: a page that cannot be scrolled helps less than lines that are missing and said. */
const perTurnMax = 500;
const turnMs = 100;
const againMs = 2_000;
let last = 0;

/** Reads a log as it is written. Goes on after the server was away, where it was. */
export function openTail(target: string, { onLines, onState, onRefused }: TailEvents): () => void {
  const stop = new AbortController();
  let waiting: string[] = [];
  let newest = "";
  /** Lines up to here came before the connection was lost. */
  let resumedAt = "";
  const show = () => {
    if (waiting.length === 0) return;
    const skipped = Math.max(0, waiting.length - perTurnMax);
    const kept = waiting.slice(skipped);
    waiting = [];
    onLines(kept.flatMap(readLine), skipped);
  };
  const readLine = (text: string): ShownLine[] => {
    try {
      const line = JSON.parse(text) as LogLine;
      if (typeof line.text !== "string" || line.at <= resumedAt) return [];
      if (line.at > newest) newest = line.at;
      return [shownLine(line)];
    } catch {
      return [];
    }
  };
  const timer = setInterval(show, turnMs);
  const run = async () => {
    while (!stop.signal.aborted) {
      onState("opening");
      resumedAt = newest;
      const from = newest === "" ? target : `${target}&from=${encodeURIComponent(newest)}`;
      const refusal = await read(from).catch(() => undefined);
      if (stop.signal.aborted) return;
      if (refusal !== undefined) return onRefused(refusal);
      onState("lost");
      await new Promise((done) => setTimeout(done, againMs));
    }
  };
  const read = async (from: string): Promise<string | undefined> => {
    const response = await fetch(from, { signal: stop.signal, credentials: "same-origin" });
    if (response.status === 400) return ((await response.json()) as { error?: string }).error ?? "it cannot be read";
    if (!response.ok || response.body === null) return undefined;
    onState("live");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return undefined;
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line !== "") waiting.push(line);
    }
  };
  void run();
  return () => {
    stop.abort();
    clearInterval(timer);
  };
}

/** A line of the server as the list shows it. */
export function shownLine(line: LogLine): ShownLine {
  last += 1;
  return {
    id: last,
    at: Date.parse(line.at),
    replica: line.replica_id,
    app: `${line.scope}/${line.name}`,
    level: line.level,
    text: plainLine(line.text),
    source: line,
  };
}

/** Something between lines: what was skipped, a connection that was lost. */
export function markLine(text: string): ShownLine {
  last += 1;
  return { id: last, replica: "", text, mark: true };
}
