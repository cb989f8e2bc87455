import { heapStats } from "bun:jsc";

/** Byte arrays that are in use. */
export function byteArrays(): number {
  Bun.gc(true);
  return heapStats().objectTypeCounts.Uint8Array ?? 0;
}

/** A body that comes byte by byte, and how many byte arrays whoever reads it holds at its end. */
export function tinyPieces(count: number): { request: Request; held(): number } {
  const before = byteArrays();
  let left = count;
  let after = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left > 0) {
        left -= 1;
        controller.enqueue(new Uint8Array([120]));
        return;
      }
      after = byteArrays();
      controller.close();
    },
  });
  return { request: new Request("http://localhost/", { method: "POST", body }), held: () => after - before };
}
