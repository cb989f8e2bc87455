import { expect, test } from "bun:test";
import fc from "fast-check";
import { extract } from "tar-stream";
import { tarEnd, tarHead, tarPadding } from "../../../../src/ui/text/tar.ts";

async function read(bytes: Uint8Array): Promise<[name: string, text: string][]> {
  const archive = extract();
  archive.end(bytes);
  const found: [string, string][] = [];
  for await (const entry of archive) {
    const parts: Uint8Array[] = [];
    for await (const part of entry) parts.push(part as Uint8Array);
    found.push([entry.header.name, Buffer.concat(parts).toString()]);
  }
  return found;
}

const name = fc.stringMatching(/^[a-zé日_.-]{1,60}$/);
const path = fc.array(name, { minLength: 1, maxLength: 6 }).map((parts) => parts.join("/"));

test("another program reads every name and content of an archive", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(path, fc.string({ maxLength: 700 })), { maxLength: 5 }), async (files) => {
      const parts = files.flatMap(([file, text]) => {
        const bytes = Buffer.from(text);
        return [tarHead(file, bytes.length), bytes, tarPadding(bytes.length)];
      });
      expect(await read(Buffer.concat([...parts, tarEnd()]))).toEqual(
        files.map(([file, text]) => [file, Buffer.from(text).toString()]),
      );
    }),
    { numRuns: 60 },
  );
});
