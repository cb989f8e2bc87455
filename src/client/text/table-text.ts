import { clip } from "../shell/terminal.ts";

interface TableOptions {
  /** Columns of the screen; the last column is cut to fit. */
  width?: number;
  indent?: string;
  /** Applied to the header line. */
  head?: (text: string) => string;
}

/** Rows in aligned columns, two blanks apart. The first row is the header. Cells may hold colour codes. */
export function tableText(rows: readonly (readonly string[])[], options: TableOptions = {}): string {
  const { width = Number.POSITIVE_INFINITY, indent = "", head = (text: string) => text } = options;
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, Bun.stringWidth(cell));
    });
  }
  const lines = rows.map((row) => clip(indent + aligned(row, widths), width));
  return lines.map((line, index) => (index === 0 ? head(line) : line)).join("\n");
}

/** Rows in aligned columns without a header. */
export function listText(rows: readonly (readonly string[])[], options: Omit<TableOptions, "head"> = {}): string {
  return tableText(rows, options);
}

function aligned(row: readonly string[], widths: readonly number[]): string {
  const cells = row.map((cell, column) => {
    const padding = Math.max(0, (widths[column] ?? 0) - Bun.stringWidth(cell));
    return cell + " ".repeat(padding);
  });
  return cells.join("  ").trimEnd();
}
