import { describe, expect, test } from "bun:test";
import { createDockerEntries, createTimeReader } from "../../../../../src/observability/core/logs/docker-entries.ts";
import { fieldsOf, fieldText } from "../../../../../src/observability/core/logs/fields.ts";
import { levelOf } from "../../../../../src/observability/core/logs/level.ts";
import { createSampler } from "../../../../../src/observability/core/logs/sampling.ts";

describe("the level of a line", () => {
  const cases: [string, string][] = [
    ['{"level":"warn","msg":"x"}', "warn"],
    ['{"severity":"CRITICAL"}', "fatal"],
    ['{"level":50,"msg":"pino"}', "error"],
    ['{"msg":"level is high"}', "none"],
    ["ts=1 level=debug msg=hi", "debug"],
    ["E0131 13:05:00.000000 1 main.go:1] no", "error"],
    ["<4>kernel: odd", "warn"],
    ["2026-01-31 13:05:00 ERROR could not connect", "error"],
    ["[warn] disk is nearly full", "warn"],
    ["error: cannot open file", "error"],
    ["an error happened in a sentence", "none"],
    ["WARNING: deprecated", "warn"],
    ["", "none"],
  ];
  for (const [text, level] of cases)
    test(`of ${JSON.stringify(text)} is ${level}`, () => expect(levelOf(text)).toBe(level as never));
});

describe("fields", () => {
  const of = (text: string, path: string) => fieldText(fieldsOf(text) ?? {}, path);

  test("of JSON, nested ones and keys with a point too", () => {
    const text = '{"status":500,"http":{"method":"GET"},"a.b":true,"list":[1,2]}';
    expect(of(text, "status")).toBe("500");
    expect(of(text, "http.method")).toBe("GET");
    expect(of(text, "a.b")).toBe("true");
    expect(of(text, "list")).toBe("[1,2]");
    expect(of(text, "toString")).toBeUndefined();
  });

  test("of key=value pairs", () => {
    expect(of('at=info msg="hello you" status=200', "msg")).toBe("hello you");
    expect(of('at=info msg="hello you" status=200', "status")).toBe("200");
    expect(fieldsOf("plain words")).toBeUndefined();
  });
});

describe("entries of Docker's log files", () => {
  const entry = (log: string, stream = "stdout") =>
    JSON.stringify({ log, stream, time: "2026-01-31T13:05:00.123456789Z" });

  test("parts of a long line are put together, and the other stream waits for it", () => {
    const entries = createDockerEntries();
    entries.push(entry("first "));
    entries.push(entry("between\n", "stderr"));
    expect(entries.take()).toEqual([]);
    expect(entries.isPartial()).toBe(true);
    entries.push(entry("second\n"));
    expect(entries.take().map(({ text }) => text)).toEqual(["first second", "between"]);
  });

  test("a line without an end counts once its end is given up", () => {
    const entries = createDockerEntries();
    entries.push(entry("Password: "));
    entries.giveUp();
    expect(entries.take()).toEqual([
      { at: Date.UTC(2026, 0, 31, 13, 5, 0, 123), stream: "stdout", text: "Password: " },
    ]);
  });

  test("what is not an entry is left out, and the carriage return of a terminal too", () => {
    const entries = createDockerEntries();
    for (const text of ["{torn", "", "null", "[]", '{"log":"x\\n","time":"never"}', entry("ok\r\n")])
      entries.push(text);
    expect(entries.take().map(({ text }) => text)).toEqual(["ok"]);
  });

  test("times with any number of digits, or an offset", () => {
    const read = createTimeReader();
    expect(read("2026-01-31T13:05:00Z")).toBe(Date.UTC(2026, 0, 31, 13, 5));
    expect(read("2026-01-31T13:05:00.5Z")).toBe(Date.UTC(2026, 0, 31, 13, 5, 0, 500));
    expect(read("2026-01-31T14:05:00.25+01:00")).toBe(Date.UTC(2026, 0, 31, 13, 5, 0, 250));
    expect(read("soon")).toBeUndefined();
  });
});

test("above its rate a pod keeps one line of ten, and says how many it left out", () => {
  const sampler = createSampler({ linesPerSecond: 100, linesAtOnce: 50, keepOneOf: 10, noteMs: 1_000 });
  const kept = Array.from({ length: 1_050 }, () => sampler.keeps(5_000)).filter(Boolean).length;
  expect(kept).toBe(50 + 100);
  expect(sampler.note()).toBeUndefined();
  expect(sampler.keeps(6_500)).toBe(true);
  expect(sampler.note()).toEqual({ lines: 900, from: 5_000, until: 5_000 });
  expect(sampler.note(true)).toBeUndefined();
});
