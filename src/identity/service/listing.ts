/** One answer's worth of a list: as much as fits, and where it goes on. */
export interface Listing {
  /** A JSON array. */
  json: string;
  /** Undefined at the end. */
  next: string | undefined;
}

interface Filling<Row> {
  limits: { listBytesMax: number; listPageRows: number };
  /** Resources at most, when the caller has said. */
  limit?: number | undefined;
  /** The next rows behind `after`, or the first ones. */
  read(after: Row | undefined, count: number): Row[];
  render(row: Row): object;
  cursorOf(row: Row): string;
}

/** Fills up to the limit of bytes; a single resource is given however long it is. */
export function fillList<Row>({ limits, limit, read, render, cursorOf }: Filling<Row>): Listing {
  const texts: string[] = [];
  let bytes = 2;
  let last: Row | undefined;
  const most = limit ?? Number.POSITIVE_INFINITY;
  for (;;) {
    // One row more than wanted tells whether there is a next page.
    const wanted = Math.min(limits.listPageRows, most - texts.length + 1);
    const rows = read(last, wanted);
    for (const row of rows) {
      const text = JSON.stringify(render(row));
      bytes += Buffer.byteLength(text) + 1;
      const full = texts.length >= most || (bytes > limits.listBytesMax && texts.length > 0);
      if (full) return { json: `[${texts.join(",")}]`, next: last === undefined ? undefined : cursorOf(last) };
      texts.push(text);
      last = row;
    }
    if (rows.length < wanted) return { json: `[${texts.join(",")}]`, next: undefined };
  }
}
