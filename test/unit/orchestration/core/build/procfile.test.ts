import { expect, test } from "bun:test";
import { readProcfile } from "../../../../../src/orchestration/core/build/procfile.ts";

test("processes in their order, with lower-case types", () => {
  const text = "# comment\nWeb: bin/serve -p $PORT \r\n\nworker:  node worker.js # all\nrelease: bin/migrate\n";
  expect(readProcfile(text)).toEqual([
    { type: "web", command: "bin/serve -p $PORT" },
    { type: "worker", command: "node worker.js # all" },
    { type: "release", command: "bin/migrate" },
  ]);
});

test("the first of two of one type counts; a line that is something else is skipped", () => {
  expect(readProcfile("web: a\nWEB: b\nno process\nempty:\nend-: x\n")).toEqual([{ type: "web", command: "a" }]);
});
