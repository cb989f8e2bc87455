import { expect, test } from "bun:test";
import { builtInBoards } from "../../../../src/observability/core/boards.ts";
import { cli } from "../../../support/cli.ts";

const board = { ...builtInBoards[0], name: "night", title: "Night shift", built_in: false };

test("the list tells boards of the server from those that were saved", async () => {
  const { out } = await cli(["boards"], { server: () => ({ boards: [builtInBoards[0], board] }) });
  expect(out.split("\n").slice(1, 3)).toEqual([
    "apps   Apps         4       the server",
    "night  Night shift  4       saved",
  ]);
});

test("what show prints can be saved again", async () => {
  const { out } = await cli(["boards", "show", "night"], { server: () => board });
  const { calls, code } = await cli(["boards", "save", "night"], { server: () => board, stdin: out });
  expect([code, calls[0]]).toMatchObject([
    0,
    { method: "PUT", path: "/boards/night", body: { title: "Night shift", charts: board.charts } },
  ]);
});

test("wrong words and text that is not JSON are usage failures", async () => {
  const server = () => board;
  for (const [words, stdin] of [
    [["boards", "find"], ""],
    [["boards", "show"], ""],
    [["boards", "save", "night"], ""],
    [["boards", "save", "night"], "{"],
  ] as const)
    expect((await cli([...words], { server, stdin })).code).toBe(2);
  expect((await cli(["boards", "remove", "night"], { server })).out).toContain("removed night");
});
