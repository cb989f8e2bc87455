/** What is run where the viewer names no command: the better shell of those that there are. */
const shell = "if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi";

/** A command as it is typed into one field. */
export function commandOf(text: string): string[] {
  return ["sh", "-c", text.trim() === "" ? shell : text];
}

/** The first lines of a text, for a look at what is about to be pasted. */
export function previewOf(text: string, linesMax = 8): { lines: string[]; more: number } {
  const lines = text.replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n");
  return { lines: lines.slice(0, linesMax), more: Math.max(0, lines.length - linesMax) };
}
