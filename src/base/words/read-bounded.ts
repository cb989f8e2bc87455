import { createByteParts } from "./byte-parts.ts";

/** The body of a request or response; fails with what `tooLong` makes once it is longer than that. */
export async function readBounded(
  { body }: Pick<Response, "body">,
  bytesMax: number,
  tooLong: () => Error,
): Promise<Buffer> {
  const reader = body?.getReader();
  const parts = createByteParts();
  for (let seen = 0; reader !== undefined;) {
    const { value, done } = await reader.read();
    if (done) break;
    seen += value.byteLength;
    if (seen > bytesMax) {
      await reader.cancel();
      throw tooLong();
    }
    parts.add(value);
  }
  return Buffer.concat(parts.take());
}
