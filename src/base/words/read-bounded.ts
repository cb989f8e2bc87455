/** The body of a response; fails with what `tooLong` makes once it is longer than that. */
export async function readBounded(response: Response, bytesMax: number, tooLong: () => Error): Promise<Buffer> {
  const reader = response.body?.getReader();
  const parts: Uint8Array[] = [];
  for (let seen = 0; reader !== undefined;) {
    const { value, done } = await reader.read();
    if (done) break;
    seen += value.byteLength;
    if (seen > bytesMax) {
      await reader.cancel();
      throw tooLong();
    }
    parts.push(value);
  }
  return Buffer.concat(parts);
}
