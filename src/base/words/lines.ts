/** The last lines of a text that arrives in pieces. Lines longer than `lineCharsMax` are cut. */
export interface LineTail {
  push(text: string): void;
  /** What is kept, oldest first, an unfinished last line included. */
  lines(): string[];
}

const lineCharsMax = 4_096;

export function createLineTail(linesMax: number): LineTail {
  const kept: string[] = [];
  let open = "";
  return {
    push(text) {
      const parts = (open + text).split("\n");
      open = (parts.pop() ?? "").slice(0, lineCharsMax);
      for (const part of parts.slice(-linesMax)) kept.push(part.replace(/\r$/, "").slice(0, lineCharsMax));
      if (kept.length > linesMax) kept.splice(0, kept.length - linesMax);
    },
    lines: () => (open === "" ? [...kept] : [...kept, open].slice(-linesMax)),
  };
}
