import { expect, test } from "bun:test";
import { decide, readUpdates } from "../../../../src/local/push/pre-receive.ts";

const none = "0".repeat(40);
const [a, b] = ["a".repeat(40), "b".repeat(40)];
const update = (ref: string, after = b, before = a) => ({ ref: `refs/${ref}`, before, after });

test("the lines of git's hook; one that is none makes all of them worthless", () => {
  expect(readUpdates(`${none} ${a} refs/heads/main\n${a} ${b} refs/tags/v1\n`)).toEqual([
    { ref: "refs/heads/main", before: none, after: a },
    { ref: "refs/tags/v1", before: a, after: b },
  ]);
  expect(readUpdates("")).toEqual([]);
  for (const line of [`${a} refs/heads/main`, `${a} ${b} HEAD`, "rubbish"]) expect(readUpdates(line)).toBeUndefined();
});

test.each([
  ["main", undefined],
  ["master", undefined],
  ["production", "production"],
  ["feature/x", "feature/x"],
])("%s is deployed where the branch that deploys is %p", (branch, head) => {
  expect(decide([update(`heads/${branch}`), update("tags/v1")], head)).toEqual({
    type: "accept",
    deploy: { branch, commit: b },
    stored: [],
    deleted: [],
  });
});

test.each([
  ["feature", undefined],
  ["master", "main"],
  ["main/x", "main"],
])("%s is stored where the branch that deploys is %p", (branch, head) => {
  const accepted = { type: "accept" as const, deploy: undefined };
  const stored = [{ branch, commit: b }];
  expect(decide([update(`heads/${branch}`)], head)).toEqual({ ...accepted, stored, deleted: [] });
  expect(decide([update(`heads/${branch}`, none)], head)).toEqual({ ...accepted, stored: [], deleted: [branch] });
});

test.each([
  [[update("heads/main", none)], "main", "main is what runs"],
  [[update("heads/main"), update("heads/master")], undefined, "main and master would both be deployed"],
  [[update("heads/-y")], "main", "-y begins with a dash"],
  [[update("heads/--remote=a@b", none)], "main", "--remote=a@b begins with a dash"],
  [[update("notes/commits")], "main", "refs/notes/commits is neither a branch nor a tag"],
])("%j is refused where the branch is %p", (updates, head, why) => {
  expect(decide(updates, head)).toEqual({ type: "refuse", why: expect.stringContaining(why) });
});
