import { expect, test } from "bun:test";
import { readGitAsk } from "../../../../src/orchestration/core/git-ask.ts";

const ask = { scope: "shop", name: "web", url: "https://git.example.com/shop.git" };

test.each(["main", "v1.2.0", "feature/new-cart", "1a2b3c4d1a2b3c4d1a2b3c4d1a2b3c4d1a2b3c4d"])(
  "the ref %s is one",
  (ref) => {
    expect(readGitAsk({ ...ask, ref })).toEqual({ ...ask, ref });
  },
);

test.each<[Record<string, unknown>, string]>([
  [{ url: "git@git.example.com:shop.git" }, "over ssh are not supported"],
  [{ url: "ssh://git@git.example.com/shop.git" }, "over ssh are not supported"],
  [{ url: "file:///etc" }, "https address"],
  [{ url: "ext::sh -c id" }, "https address"],
  [{ url: "git://git.example.com/shop.git" }, "https address"],
  [{ url: "-u./x" }, "https address"],
  [{ url: "https://ana:hunter2@git.example.com/shop.git" }, "user or password in the address"],
  [{ url: "https://git.example.com/shop.git?a=b" }, "leave out what follows ?"],
  [{ url: "https://git.example.com/sh op.git" }, "has a space"],
  [{ ref: "--upload-pack=id" }, "is not a branch"],
  [{ ref: "a:b" }, "is not a branch"],
  [{ ref: "a..b" }, "is not a branch"],
  [{ ref: "main\n" }, "is not a branch"],
  [{ folder: "../x" }, "leads out of the folder"],
  [{ scope: "A b" }, "scope"],
  [{ extra: 1 }, "extra"],
])("%j is refused", (changes, why) => {
  expect(() => readGitAsk({ ...ask, ...changes })).toThrow(why);
  expect(() => readGitAsk({ ...ask, ...changes })).not.toThrow("hunter2");
});
