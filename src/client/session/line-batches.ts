export interface LineBatch {
  text: string;
  /** Lines in it. */
  count: number;
  last: boolean;
}

const lineEnd = 0x0a;

/**
 * Whole lines in pieces of at most `bytesMax`; a line that is longer than that comes in several. There is always a
 * last piece, empty where there is nothing. Never holds more than two pieces.
 */
export async function* batchedLines(source: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<LineBatch> {
  let held: Uint8Array = new Uint8Array();
  let waiting: Uint8Array | undefined;
  for await (const chunk of source) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    while (held.length > bytesMax) {
      const end = cutAt(held, bytesMax);
      if (waiting !== undefined) yield batchOf(waiting, false);
      waiting = held.subarray(0, end);
      held = held.subarray(end);
    }
  }
  if (waiting !== undefined && held.length > 0) yield batchOf(waiting, false);
  yield batchOf(held.length > 0 || waiting === undefined ? held : waiting, true);
}

/** Behind the last line end within the limit, or at the limit. */
function cutAt(bytes: Uint8Array, bytesMax: number): number {
  const within = bytes.lastIndexOf(lineEnd, bytesMax - 1);
  return within >= 0 ? within + 1 : bytesMax;
}

function batchOf(bytes: Uint8Array, last: boolean): LineBatch {
  const text = new TextDecoder().decode(bytes);
  let count = 0;
  for (let at = bytes.indexOf(lineEnd); at >= 0; at = bytes.indexOf(lineEnd, at + 1)) count += 1;
  return { text, count: text === "" || text.endsWith("\n") ? count : count + 1, last };
}
