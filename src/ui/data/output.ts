import type { ShownLine } from "../text/lines.ts";
import { plainLine } from "../text/lines.ts";

interface OutputEvents {
  /** All lines so far. */
  onLines: (lines: readonly ShownLine[]) => void;
  /** The build has ended. */
  onEnd: () => void;
}

const keptMax = 20_000;
const turnMs = 100;
const againMs = 2_000;

/** Reads what a build prints until it ends. After a lost connection the server sends all of it again. */
export function openOutput(target: string, { onLines, onEnd }: OutputEvents): () => void {
  const stop = new AbortController();
  let lines: ShownLine[] = [];
  let isNew = false;
  const timer = setInterval(() => {
    if (isNew) onLines(lines);
    isNew = false;
  }, turnMs);
  const add = (texts: readonly string[]) => {
    const first = lines.length;
    lines = [...lines, ...texts.map((text, index) => lineOf(text, first + index))].slice(-keptMax);
    isNew = true;
  };
  const read = async (): Promise<void> => {
    const response = await fetch(target, { signal: stop.signal, credentials: "same-origin" });
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const parts = (rest + value).split("\n");
      rest = parts.pop() ?? "";
      add(parts);
    }
    if (rest !== "") add([rest]);
    if (isNew) onLines(lines);
    isNew = false;
    onEnd();
  };
  const run = async () => {
    for (;;) {
      lines = [];
      const isWhole = await read().then(
        () => true,
        () => false,
      );
      if (isWhole || stop.signal.aborted) return;
      await new Promise((done) => setTimeout(done, againMs));
    }
  };
  void run().finally(() => clearInterval(timer));
  return () => {
    stop.abort();
    clearInterval(timer);
  };
}

function lineOf(text: string, id: number): ShownLine {
  return { id, replica: "", text: plainLine(text) };
}
