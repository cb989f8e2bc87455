import { expect, test } from "bun:test";
import fc from "fast-check";
import { readListing } from "../../src/observability/core/files/listing.ts";
import { attachment, readPath, splitPath } from "../../src/observability/core/files/paths.ts";
import { below, shownName } from "../../src/ui/text/files.ts";

const name = fc.string({ unit: "binary", minLength: 1, maxLength: 40 }).filter((text) => !text.includes("\0"));

test("a path is absolute and has no step up, and reading it again changes nothing", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(name, fc.constantFrom("..", ".", ""))), (parts) => {
      const path = readPath(`/${parts.join("/")}`);
      expect(path.startsWith("/")).toBe(true);
      expect(path.split("/")).not.toContain("..");
      expect(readPath(path)).toBe(path);
      const { folder, name: last } = splitPath(path);
      if (last !== "") expect(below(folder, last)).toBe(path);
    }),
  );
});

test("a name of any kind makes a header of one line that says it", () => {
  fc.assert(
    fc.property(name, (text) => {
      const value = attachment(text);
      expect(value).toMatch(/^[\x20-\x7e]*$/);
      expect(decodeURIComponent(value.split("UTF-8''")[1] ?? "")).toBe(text);
    }),
  );
});

test("a shown name is one line without controls", () => {
  fc.assert(fc.property(name, (text) => expect(shownName(text)).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e]/u)));
});

test("whatever a container prints is a listing of names without slashes, or none", () => {
  const piece = fc.oneof(name, fc.constantFrom("", "./a", "1", "t/b", "81a4 5 5\n", "81a4 5 5\n41ed 4096 1\n"));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const listing = readListing(new TextEncoder().encode(pieces.join("\0")));
      for (const entry of listing?.entries ?? [])
        expect([entry.name === "", entry.name.includes("/")]).toEqual([false, false]);
    }),
  );
});
