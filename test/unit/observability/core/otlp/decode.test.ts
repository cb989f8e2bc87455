import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type Budget,
  createBudget,
  OtlpError,
  OverBudgetError,
} from "../../../../../src/observability/core/otlp/budget.ts";
import { decodeJson } from "../../../../../src/observability/core/otlp/json.ts";
import { decodeProtobuf } from "../../../../../src/observability/core/otlp/protobuf.ts";
import {
  requestShapes,
  type Scalar,
  type Shape,
  type Signal,
} from "../../../../../src/observability/core/otlp/shapes.ts";
import { encodeProtobuf, logRecords } from "../../../../support/otlp.ts";

const most = { itemsMax: 10_000, depthMax: 64, bytesLeft: 1_000_000, itemBytes: 1, entryBytes: 1 };
const limits = () => createBudget(most);
const signals = Object.keys(requestShapes) as Signal[];

const scalars: Record<Scalar, fc.Arbitrary<unknown>> = {
  string: fc.string({ unit: "grapheme", maxLength: 20 }),
  bytes: fc.uint8Array({ maxLength: 20 }).map((bytes) => bytes.toBase64()),
  id: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => bytes.toHex()),
  bool: fc.boolean(),
  double: fc.double({ noNaN: true }),
  fixed64: fc.maxSafeNat(),
  sfixed64: fc.maxSafeInteger(),
  varint: fc.maxSafeNat(),
  int64: fc.maxSafeInteger(),
  sint32: fc.integer(),
};

/** Any message of a shape, a few levels deep. */
function messageOf(shape: Shape, depth = 6): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.values(shape).flatMap(({ name, type, repeated }) => {
    if (typeof type === "function" && depth === 0) return [];
    const one = typeof type === "function" ? messageOf(type(), depth - 1) : scalars[type];
    return [[name, repeated ? fc.array(one, { minLength: 1, maxLength: 2 }) : one] as const];
  });
  return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
}

for (const signal of signals) {
  const message = messageOf(requestShapes[signal]);

  test(`${signal}: protobuf and JSON of the same message are read as the same`, () => {
    const shape = requestShapes[signal];
    fc.assert(
      fc.property(message, (one) => {
        const read = decodeProtobuf(shape, encodeProtobuf(shape, one), limits());
        expect(read).toEqual(decodeJson(shape, one, limits()));
      }),
      { numRuns: 15 },
    );
  });

  test(`${signal}: random bytes, and a message with bytes changed, are read or refused`, () => {
    const shape = requestShapes[signal];
    const whole = message.map((one) => encodeProtobuf(shape, one));
    const broken = fc
      .tuple(whole, fc.array(fc.tuple(fc.nat(500), fc.nat(255)), { maxLength: 4 }))
      .map(([bytes, changes]) => {
        const copy = Uint8Array.from(bytes);
        for (const [at, byte] of changes) if (at < copy.length) copy[at] = byte;
        return copy;
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 400 }), broken), (bytes) => {
        try {
          decodeProtobuf(shape, bytes, limits());
        } catch (error) {
          expect(error).toBeInstanceOf(OtlpError);
        }
      }),
      { numRuns: 150 },
    );
  });
}

test("a small body with very many messages, or very deep ones, is refused", () => {
  const empties = new Uint8Array(60_000).map((_, at) => (at % 2 === 0 ? 0x0a : 0));
  expect(() => decodeProtobuf(requestShapes.logs, empties, limits())).toThrow("more than 10000 items");
  let value: Record<string, unknown> = { stringValue: "x" };
  for (let level = 0; level < 80; level++) value = { arrayValue: { values: [value] } };
  const deep = encodeProtobuf(requestShapes.logs, logRecords({ body: value }));
  expect(() => decodeProtobuf(requestShapes.logs, deep, limits())).toThrow("nested deeper than 64");
});

test("JSON: both spellings of names, numbers as texts, unknown fields; a fault is told with its place", () => {
  const record = { time_unix_nano: "1700000000000000000", severityNumber: 9, traceId: "ABCD", other: { x: 1 } };
  const read = decodeJson(requestShapes.logs, logRecords(record), limits());
  const expected = { timeUnixNano: 1.7e18, severityNumber: 9, traceId: "abcd" };
  expect(JSON.stringify(read)).toContain(JSON.stringify(expected).slice(1, -1));
  const wrong = logRecords({ severityNumber: "high" });
  expect(() => decodeJson(requestShapes.logs, wrong, limits())).toThrow(
    'resourceLogs[0].scopeLogs[0].logRecords[0].severityNumber: "high" is not a number',
  );
  expect(() => decodeJson(requestShapes.logs, [], limits())).toThrow("body: [] is not an object");
});

test("decoding stops where the budget of the sender ends, whatever the encoding", () => {
  const entries = {
    logs: ["resourceLogs", "scopeLogs", "logRecords"],
    traces: ["resourceSpans", "scopeSpans", "spans"],
  };
  for (const [signal, [groups = "", scopes = "", items = ""]] of Object.entries(entries)) {
    const shape = requestShapes[signal as Signal];
    const body = { [groups]: [{ [scopes]: [{ [items]: Array.from({ length: 1_000 }, () => ({})) }] }] };
    const tight = () => createBudget({ ...most, bytesLeft: 503, itemBytes: 1, entryBytes: 100 });
    for (const read of [
      (budget: Budget) => decodeProtobuf(shape, encodeProtobuf(shape, body), budget),
      (budget: Budget) => decodeJson(shape, body, budget),
    ]) {
      const budget = tight();
      expect(() => read(budget)).toThrow(OverBudgetError);
      // Five entries fit behind the three messages around them: the sixth was not made.
      expect(budget.spent()).toBe(603);
    }
  }
});
