import { expect, test } from "bun:test";
import type { SpanView } from "../../../../src/observability/api/traces.ts";
import { barOf, spanTime, traceIn } from "../../../../src/ui/text/traces.ts";

const span = (offset_ms: number, duration_ms: number) => ({ offset_ms, duration_ms }) as SpanView;

test("a bar lies where its span is, is never too narrow to be seen, and never outside", () => {
  expect(barOf(span(25, 50), 100)).toEqual({ left: 25, width: 50 });
  expect(barOf(span(100, 0), 100)).toEqual({ left: 99.6, width: 0.4 });
  expect(barOf(span(90, 900), 100)).toEqual({ left: 90, width: 10 });
  expect(barOf(span(-5, 1), 0)).toEqual({ left: 0, width: 0.4 });
});

test("short spans keep their digits", () => {
  expect([0.4, 3.14, 42.4, 1_250].map(spanTime)).toEqual(["0.40 ms", "3.1 ms", "42 ms", "1.25 s"]);
});

test("a line leads to a trace only where it names one", () => {
  const id = "5B8EFFF798038103D269B633813FC60C";
  expect(traceIn([["trace_id", id]])).toBe(id.toLowerCase());
  expect(
    traceIn([
      ["trace_id", "../x"],
      ["msg", id],
    ]),
  ).toBeUndefined();
});
