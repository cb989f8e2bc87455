import { createTimeReader } from "../../../../../src/base/pure/docker-entry.ts";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createDockerEntries, type KeepsLine } from "../../../../../src/observability/core/logs/docker-entries.ts";
import { fieldsOf, fieldText } from "../../../../../src/observability/core/logs/fields.ts";
import { createSampler } from "../../../../../src/observability/core/logs/sampling.ts";

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
  const reader = (keeps: KeepsLine = () => true) => {
    const entries = createDockerEntries(keeps);
    const push = (text: string) => {
      const bytes = Buffer.from(`before\n${text}\n`);
      entries.push(bytes, 7, bytes.length - 1);
    };
    return { ...entries, push };
  };

  test("parts of a long line are put together, and the other stream waits for it", () => {
    const entries = reader();
    entries.push(entry("first "));
    entries.push(entry("between\n", "stderr"));
    expect(entries.take()).toEqual([]);
    expect(entries.isPartial()).toBe(true);
    entries.push(entry("second\n"));
    expect(entries.take().map(({ text }) => text)).toEqual(["first second", "between"]);
  });

  test.each([
    ["bytes", "x".repeat(10_000), 0, 500],
    ["time", "", 1_000, 12],
  ])("a line that is never ended holds up the other stream only for so many %s", (_, text, stepMs, lines) => {
    const entries = reader();
    const at = (index: number) => new Date(Date.parse("2026-01-31T13:05:00Z") + index * stepMs).toISOString();
    entries.push(JSON.stringify({ log: "open", stream: "stdout", time: at(0) }));
    for (let index = 0; index < lines; index++)
      entries.push(JSON.stringify({ log: `${text}\n`, stream: "stderr", time: at(index) }));
    expect(entries.isPartial()).toBe(false);
    expect(entries.take().length).toBe(lines + 1);
  });

  test("a line of any length stays one, and what is before it does not count", () => {
    const entries = reader();
    for (let index = 0; index < 500; index++) entries.push(entry(`${"x".repeat(10_000)}\n`));
    for (let piece = 0; piece < 1_000; piece++) entries.push(entry("y".repeat(16_384)));
    entries.push(entry("between\n", "stderr"));
    expect(entries.isPartial()).toBe(true);
    entries.push(entry("end\n"));
    expect(entries.take().length).toBe(502);
  });

  test.each([
    ["zeros", "\0".repeat(4_096)],
    ["half a text", '{"log":"torn by a pow'],
    ["half an entry", '{"log":"torn\\n","stream":"stdout","ti'],
  ])("the first line after a power cut is read behind %s", (_, torn) => {
    for (const leavesOut of [0, 1]) {
      let asked = 0;
      const entries = reader(() => ++asked > leavesOut);
      if (leavesOut > 0) entries.push(entry("a flood\n"));
      entries.push(`${torn}${entry('says {"log":"x"}\n')}`);
      entries.push(entry("next\n"));
      const texts = entries.take().map(({ text }) => text);
      expect(texts.slice(leavesOut)).toEqual(['says {"log":"x"}', "next"]);
    }
  });

  test("a line without an end counts once its end is given up", () => {
    const entries = reader();
    entries.push(entry("Password: "));
    entries.giveUp();
    expect(entries.take()).toEqual([
      { at: Date.UTC(2026, 0, 31, 13, 5, 0, 123), stream: "stdout", text: "Password: " },
    ]);
  });

  test("what is not an entry is left out, and the carriage return of a terminal too", () => {
    const entries = reader();
    const torn = `{"log":"x","attrs{"log":"y\\n","stream":"stdout","time":"2026-01-31T13:05:00Z"}`;
    for (const text of ["{torn", "", "null", "[]", '{"log":"x\\n","time":"never"}', torn, entry("ok\r\n")])
      entries.push(text);
    expect(entries.take().map(({ text }) => text)).toEqual(["y", "ok"]);
  });

  test("a line that is left out has its time and place, also in parts, and each line is asked about once", () => {
    const asked: number[] = [];
    const entries = reader((at) => asked.push(at) !== 2);
    for (const text of ["one\n", "tw", "o, left ", "out\n", "three\n"]) entries.push(entry(text));
    expect(entries.isPartial()).toBe(false);
    expect(entries.take().map(({ text }) => text)).toEqual(["one", undefined, "three"]);
    expect(asked).toHaveLength(3);
  });

  test("the form that the driver mostly writes and others are read as the same", () => {
    const texts = fc.array(
      fc.record({
        log: fc.oneof(
          fc.string(),
          fc.constantFrom("\\n", "\\\n", '\\","stream":"stderr"', "n", "", "\\", '"}'),
          fc.string({ unit: "grapheme" }),
        ),
        stream: fc.constantFrom("stdout", "stderr"),
        isEnd: fc.boolean(),
        ms: fc.nat(100_000),
        left: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(texts, (written) => {
        const read = (formed: (fields: object) => string) => {
          let turn = 0;
          const entries = reader(() => written[turn++ % written.length]?.left === false);
          for (const { log, stream, isEnd, ms } of written) {
            const time = new Date(Date.UTC(2026, 0, 31) + ms).toISOString();
            entries.push(formed({ log: isEnd ? `${log}\n` : log, stream, time }));
          }
          entries.giveUp();
          return { lines: entries.take(), turn };
        };
        const quick = read((fields) => JSON.stringify(fields));
        // Spaces: no entry of the quick form.
        expect(quick).toEqual(read((fields) => JSON.stringify(fields, undefined, " ").replaceAll("\n", "")));
      }),
    );
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
