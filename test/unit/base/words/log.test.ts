import { expect, test } from "bun:test";
import { createLog, type LogLevel } from "../../../../src/base/words/log.ts";

function lines(level: LogLevel, use: (log: ReturnType<typeof createLog>) => void) {
  const written: string[] = [];
  use(createLog((line) => written.push(line), level));
  return written.map((line): Record<string, unknown> => JSON.parse(line));
}

test("one JSON line an entry: time, level, message, fields", () => {
  const [entry] = lines("info", (log) => log.with({ plane: "orchestration" }).info("request", { status: 200 }));
  expect(entry).toEqual({
    time: expect.stringMatching(/^\d{4}-.*Z$/),
    level: "info",
    message: "request",
    plane: "orchestration",
    status: 200,
  });
});

test("a field never takes the place of the message, the level or the time", () => {
  const [entry] = lines("info", (log) =>
    log.warn("reconcile failed", { message: "m", level: "l", time: "t", key: "k" }),
  );
  expect(entry).toMatchObject({ message: "reconcile failed", level: "warn", key: "k" });
  expect(entry?.time).not.toBe("t");
});

test("what is below the level is not written", () => {
  const written = lines("warn", (log) => {
    log.debug("a");
    log.info("b");
    log.warn("c");
    log.error("d");
  });
  expect(written.map(({ message }) => message)).toEqual(["c", "d"]);
});

test("an error shows its text, its stack and its cause", () => {
  const error = new Error("outer", { cause: new TypeError("inner") });
  const [entry] = lines("info", (log) => log.error("bug", { error }));
  expect(entry?.error).toMatchObject({ name: "Error", text: "outer", cause: { name: "TypeError", text: "inner" } });
});
