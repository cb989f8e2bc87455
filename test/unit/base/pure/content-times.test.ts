import { expect, test } from "bun:test";
import { nextTimes } from "../../../../src/base/pure/content-times.ts";

const file = (path: string, digest: string) => ({ path, kind: "file" as const, mode: 0o644, digest });

test("a change of a mode alone is no change of content; nothing new keeps the latest time", () => {
  const first = nextTimes(undefined, [file("a", "1")], 10);
  const next = nextTimes(first, [{ ...file("a", "1"), mode: 0o600 }], 20);
  expect([next.files.get("a")?.time, next.newest]).toEqual([10, 10]);
});

test("a link in the place of a file is another content", () => {
  const first = nextTimes(undefined, [file("a", "1")], 10);
  expect(nextTimes(first, [{ ...file("a", "1"), kind: "link" }], 10).files.get("a")?.time).toBe(11);
});
