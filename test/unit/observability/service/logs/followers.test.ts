import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { type CompiledQuery, compileQuery } from "../../../../../src/observability/core/logs/query.ts";
import type { FoundLine } from "../../../../../src/observability/core/logs/line.ts";
import { createFollowers } from "../../../../../src/observability/service/logs/followers.ts";
import type { FromLogThread } from "../../../../../src/observability/service/logs/messages.ts";
import { matchLines } from "../../../../../src/observability/store/logs/match.ts";

let now = 0;
// Other files run in the same process: without this they would have no clock.
afterEach(() => mock.restore());

const source = { id: "a", pod: "a", replica: "a", release: "r1", role: "" };
const line = (text: string): FoundLine => ({
  ...{ app: { scope: "shop", name: "web" }, at: 1, source, stream: "stdout", level: "none", text },
});

/** A query whose text takes as long as each line says: `slow 1900`. */
function slowQuery(): CompiledQuery {
  now = 0;
  spyOn(performance, "now").mockImplementation(() => now);
  return {
    ...compileQuery({ text: "slow", apps: [] }),
    textFits(text) {
      now += Number(text.split(" ")[1]);
      return true;
    },
  };
}

const tooLong = "q: takes too long here: use words, or fewer repeats";

test("lines that wait for their block have the limit of a block", () => {
  const query = slowQuery();
  expect(matchLines(query, [line("slow 1900"), line("slow 1900")])).toHaveLength(2);
  const lines = Array.from({ length: 4 }, () => line("slow 1900"));
  expect(() => matchLines(query, lines)).toThrow(tooLong);
  expect(matchLines(compileQuery({ text: "slow", apps: [] }), lines)).toHaveLength(4);
});

test("who follows with a query that takes too long is told and left, and others go on", () => {
  const posted: FromLogThread[] = [];
  const followers = createFollowers({ post: (message) => posted.push(message), linesMax: 100, spanMs: 30_000 });
  followers.add(1, slowQuery()).begin([]);
  followers.add(2, compileQuery({ text: "slow", apps: [] })).begin([]);
  posted.length = 0;
  // Rarely slow: each half a minute has its own time.
  for (let turn = 0; turn < 4; turn++) {
    followers.push(line("slow 4000"));
    now += 30_000;
  }
  expect(posted).toEqual([]);
  for (let turn = 0; turn < 3; turn++) followers.push(line("slow 1900"));
  expect(posted).toEqual([{ type: "failed", id: 1, code: "invalid", message: tooLong }]);
  expect(followers.remove(1)).toBe(false);
  followers.push(line("slow 1"));
  followers.deliver();
  expect(posted.slice(1)).toMatchObject([{ type: "lines", id: 2, skipped: 0 }]);
});
