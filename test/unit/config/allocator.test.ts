import { expect, test } from "bun:test";
import { settleAllocator } from "../../../src/config/allocator.ts";

const name = "MIMALLOC_PURGE_HOLES_MIN_INTERVAL";

function startedWith(env: Record<string, string>, argv = ["bun", "/$bunfs/root/berth", "serve", "--root", "/x"]) {
  const calls: unknown[] = [];
  const execve = (...words: unknown[]) => void calls.push(words);
  settleAllocator({ env, argv, argv0: "berth", execPath: "/opt/berth", execve });
  return calls;
}

test("the executable starts again in its place, with its words and its environment", () => {
  const env = { LANG: "C" };
  expect(startedWith(env)).toEqual([
    ["/opt/berth", ["berth", "serve", "--root", "/x"], { LANG: "C", [name]: "10000" }],
  ]);
});

test("once: the process that has the setting does not pass it on", () => {
  const env = { LANG: "C", [name]: "10000" };
  expect(startedWith(env)).toEqual([]);
  expect(env as Record<string, string>).toEqual({ LANG: "C" });
});

test("a value of the operator's own stays", () => {
  const env = { [name]: "0" };
  expect(startedWith(env)).toEqual([]);
  expect(env).toEqual({ [name]: "0" });
});

test("a server that runs from its sources is left alone", () => {
  expect(startedWith({}, ["bun", "/home/me/berth/src/main.ts", "serve"])).toEqual([]);
});
