/** What is shown of a difference. */
interface DiffLimits {
  linesMax: number;
  /** Characters of one line; its end says how much is cut off. */
  charactersMax: number;
}

interface LineDiff {
  /** `@@ line N`, where N counts in the new text, then lines that begin with ` `, `-` or `+`. */
  lines: string[];
  /** Lines that are left out. */
  left: number;
}

/** Unchanged lines that are shown around a change. */
const around = 2;

/** Pairs of lines that are compared at most; two larger texts are shown as wholly replaced between what they share. */
const pairsMax = 1_000_000;

type Step = { sign: " " | "-" | "+"; text: string };

/** How one text became the other, line by line. */
export function lineDiff(before: string, after: string, { linesMax, charactersMax }: DiffLimits): LineDiff {
  const lines = hunks(steps(linesOf(before), linesOf(after)));
  const shown = lines.slice(0, linesMax).map((line) => shortened(line, charactersMax));
  return { lines: shown, left: lines.length - shown.length };
}

/** Two lines can differ behind what is shown of them, so the cut is seen. */
function shortened(line: string, charactersMax: number): string {
  const more = line.length - charactersMax;
  return more > 0 ? `${line.slice(0, charactersMax)}… (${more} more characters)` : line;
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  // A last line without an end differs from one with an end.
  return lines.at(-1) === "" ? lines.slice(0, -1) : [...lines.slice(0, -1), `${lines.at(-1)} (no line end)`];
}

function steps(before: readonly string[], after: readonly string[]): Step[] {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const same = (lines: readonly string[]) => lines.map((text): Step => ({ sign: " ", text }));
  return [
    ...same(after.slice(0, head)),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...same(after.slice(after.length - tail)),
  ];
}

/** By the longest common subsequence. */
function middle(before: readonly string[], after: readonly string[]): Step[] {
  const gone = (text: string): Step => ({ sign: "-", text });
  const come = (text: string): Step => ({ sign: "+", text });
  if (before.length * after.length > pairsMax) return [...before.map(gone), ...after.map(come)];
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number) => common[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      common[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const found: Step[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [old, fresh] = [before[row], after[column]];
    if (old !== undefined && old === fresh) {
      found.push({ sign: " ", text: old });
      row += 1;
      column += 1;
    } else if (fresh === undefined || (old !== undefined && at(row + 1, column) >= at(row, column + 1))) {
      found.push(gone(old ?? ""));
      row += 1;
    } else {
      found.push(come(fresh));
      column += 1;
    }
  }
  return found;
}

function hunks(all: readonly Step[]): string[] {
  const near = new Set<number>();
  all.forEach(({ sign }, index) => {
    if (sign === " ") return;
    for (let each = Math.max(0, index - around); each <= index + around; each++) near.add(each);
  });
  const lines: string[] = [];
  let line = 1;
  all.forEach(({ sign, text }, index) => {
    if (near.has(index)) {
      if (!near.has(index - 1)) lines.push(`@@ line ${line}`);
      lines.push(`${sign}${text}`);
    }
    if (sign !== "-") line += 1;
  });
  return lines;
}
