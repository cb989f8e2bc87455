import { expect, test } from "bun:test";
import { archiveOf, fileIn, listingIn } from "../../../../../src/observability/service/files/archive.ts";

async function* once(text: string) {
  yield new TextEncoder().encode(text);
}

const head = (name: string, sizeBytes: number) => ({ name, sizeBytes, mode: 0o640, modifiedAt: 1_700_000_000_000 });

test("a file goes into an archive and comes out of it, whatever its name is", async () => {
  const file = await fileIn(archiveOf(head("two\nlines é", 5), once("hello")));
  expect(file?.sizeBytes).toBe(5);
  let text = "";
  for await (const part of file?.content ?? []) text += new TextDecoder().decode(part);
  expect(text).toBe("hello");
});

test.each([
  ["less", 6],
  ["more", 4],
])("content with %s bytes than its head says fails", async (_, size) => {
  const read = async () => {
    for await (const part of archiveOf(head("a", size), once("hello"))) expect(part.length).toBeGreaterThan(0);
  };
  await expect(read()).rejects.toThrow();
});

test("an archive of a folder lists what is right in it", async () => {
  const archive = () => archiveOf(head("data/a\nb", 5), once("hello"));
  const limits = { scanBytesMax: 10_000, entriesMax: 10 };
  expect(await listingIn(archive(), limits)).toEqual({
    entries: [{ name: "a\nb", kind: "file", size_bytes: 5, mode: "640", modified_at: "2023-11-14T22:13:20.000Z" }],
    leftOut: 0,
  });
  expect(await listingIn(archiveOf(head("data/sub/a", 5), once("hello")), limits)).toEqual({ entries: [], leftOut: 0 });
  expect((await listingIn(archive(), { ...limits, entriesMax: 0 }))?.leftOut).toBe(1);
  expect(await listingIn(archive(), { ...limits, scanBytesMax: 500 })).toBeUndefined();
});
