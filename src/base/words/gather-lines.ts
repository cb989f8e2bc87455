/** Lines on their way to where they are written. */
interface GatheredLines {
  add(line: string): void;
  /** Writes what is there now: for the end of the process. */
  flush(): void;
}

/**
 * Gathers the lines of one turn of the event loop and writes them with one call at its end: a write to a pipe takes as
 * long as a tenth of a request, and answers that are ready go out first.
 */
export function gatherLines(write: (lines: string) => void): GatheredLines {
  let lines = "";
  const flush = () => {
    const gathered = lines;
    lines = "";
    if (gathered !== "") write(gathered);
  };
  return {
    add(line) {
      if (lines === "") setImmediate(flush);
      lines += line;
    },
    flush,
  };
}
