import { clip } from "./terminal.ts";

interface TableOptions {
  /** Columns of the screen; the widest columns are cut to fit, and the first one, which names the row, at last. */
  width?: number;
  indent?: string;
  /** Applied to the header line. */
  head?: (text: string) => string;
  /** The first row is one of the others. */
  headless?: boolean;
}

/** Rows in aligned columns, two blanks apart. The first row is the header. Cells may hold colour codes. */
export function tableText(rows: readonly (readonly string[])[], options: TableOptions = {}): string {
  const { width = Number.POSITIVE_INFINITY, indent = "", head = (text: string) => text, headless = false } = options;
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, Bun.stringWidth(cell));
    });
  }
  narrow(widths, { room: width - indent.length, heads: headless ? [] : (rows[0] ?? []) });
  const lines = rows.map((row) => clip(indent + aligned(row, widths), width));
  return lines.map((line, index) => (index === 0 ? head(line) : line)).join("\n");
}

/** Rows in aligned columns without a header. */
export function listText(rows: readonly (readonly string[])[], options: Omit<TableOptions, "head"> = {}): string {
  return tableText(rows, { ...options, headless: true });
}

/** Rows of a term and its explanation, as help has them: an explanation that does not fit goes on below itself. */
export function termsText(rows: readonly (readonly [string, string])[], width = Number.POSITIVE_INFINITY): string {
  const indent = "  ";
  const longest = Math.max(0, ...rows.map(([term]) => Bun.stringWidth(term)));
  const room = width - longest - 2 * indent.length;
  // Beside long terms there is no room: there the explanation begins on a line of its own.
  const isBeside = room >= explanationMin || width === Number.POSITIVE_INFINITY;
  const at = isBeside ? " ".repeat(longest + 2 * indent.length) : indent.repeat(3);
  return rows
    .map(([term, text]) => {
      if (text === "") return indent + term;
      const wrapped = wrapText(text, width - at.length).split("\n");
      const first = isBeside ? indent + term.padEnd(longest) + indent + (wrapped.shift() ?? "") : indent + term;
      return [first, ...wrapped.map((line) => at + line)].join("\n");
    })
    .join("\n");
}

/** Fewer columns make a strip of single words. */
const explanationMin = 24;

/** Text broken between words; a longer word stays whole. */
export function wrapText(text: string, width: number): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && Bun.stringWidth(line) + 1 + Bun.stringWidth(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join("\n");
}

/** A line of usage, broken between words and flags; what goes on is set in. */
export function usageText(form: string, width = Number.POSITIVE_INFINITY): string {
  const indent = "  ";
  // A flag with its value stays on one line.
  const glued = form.replace(/\[[^\]]*\]/g, (flag) => flag.replaceAll(" ", "\0"));
  const [first = "", ...rest] = wrapText(glued, width - 3 * indent.length).split("\n");
  return [indent + first, ...rest.map((line) => indent.repeat(3) + line)].join("\n").replaceAll("\0", " ");
}

/** A cell that is cut further says nothing. */
const cellMin = 10;

/** Takes columns away where a row has most of them, so that none is pushed off the screen. */
function narrow(widths: number[], { room, heads }: { room: number; heads: readonly string[] }): void {
  const least = widths.map((_, column) =>
    column === 0 ? (widths[0] ?? 0) : Math.max(cellMin, Bun.stringWidth(heads[column] ?? "")),
  );
  let over = widths.reduce((sum, width) => sum + width, 0) + 2 * (widths.length - 1) - room;
  while (over > 0) {
    const spare = widths.map((width, column) => (width > (least[column] ?? 0) ? width : 0));
    const widest = Math.max(...spare);
    if (widest === 0) return;
    const column = spare.lastIndexOf(widest);
    widths[column] = widest - 1;
    over -= 1;
  }
}

function aligned(row: readonly string[], widths: readonly number[]): string {
  const cells = row.map((whole, column) => {
    const cell = clip(whole, widths[column] ?? 0);
    const padding = Math.max(0, (widths[column] ?? 0) - Bun.stringWidth(cell));
    return cell + " ".repeat(padding);
  });
  return cells.join("  ").trimEnd();
}
