import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  bytesField,
  numberField,
  wireFields,
} from "../../../../../../src/orchestration/engine/docker/buildkit/protobuf.ts";
import { createTraceText } from "../../../../../../src/orchestration/engine/docker/buildkit/trace.ts";

const text = (number: number, value: string) => bytesField(number, Buffer.from(value));
const started = text(5, "");
const vertex = (digest: string, name: string, ...more: Buffer[]) =>
  bytesField(1, Buffer.concat([text(1, digest), text(3, name), ...more]));
const log = (digest: string, message: string) => bytesField(3, Buffer.concat([text(1, digest), text(4, message)]));
const report = (...parts: Buffer[]) => Buffer.concat(parts).toString("base64");

describe("the text of a trace", () => {
  test("names each step once, when it starts, and has the whole lines that the step prints", () => {
    const { read, rest } = createTraceText();
    expect(read(report(vertex("a", "[1/2] FROM x"), vertex("b", "[2/2] RUN y")))).toBe("");
    expect(read(report(vertex("a", "[1/2] FROM x", started, numberField(4, 1))))).toBe("[1/2] FROM x (cached)\n");
    expect(read(report(vertex("b", "[2/2] RUN y", started), log("b", "hel")))).toBe("[2/2] RUN y\n");
    expect(read(report(vertex("b", "[2/2] RUN y", started), log("b", "lo\nopen")))).toBe("hello\n");
    expect([rest(), rest()]).toEqual(["open\n", ""]);
  });

  test("leaves out what BuildKit does for itself", () => {
    const { read } = createTraceText();
    expect(read(report(vertex("a", "[internal] load remote build context", started)))).toBe("");
    expect(read(report(vertex("b", "copy /context /", started)))).toBe("");
  });

  test("steps beside each other do not break the lines of each other", () => {
    const { read, rest } = createTraceText();
    const all = read(
      report(log("a", "half "), log("b", "other\n"), log("a", "whole\ntwo"), vertex("c", "RUN", started)),
    );
    expect(all).toBe("other\nhalf whole\nRUN\n");
    expect(rest()).toBe("two\n");
  });

  test("a character that a report cuts is whole, and a line without an end does not grow for ever", () => {
    const { read } = createTraceText();
    const bytes = Buffer.from("pä55\n");
    const piece = (part: Buffer) => report(bytesField(3, Buffer.concat([text(1, "a"), bytesField(4, part)])));
    expect(read(piece(bytes.subarray(0, 2))) + read(piece(bytes.subarray(2)))).toBe("pä55\n");
    expect(read(report(log("a", "x".repeat(70_000))))).toHaveLength(70_000);
  });

  test("a progress bar and other rows are no text", () => {
    expect(createTraceText().read(report(bytesField(2, Buffer.from("status"))))).toBe("");
  });
});

describe("the wire format", () => {
  test("what is written reads back", () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 31 }), fc.uint8Array({ maxLength: 300 }), (number, bytes) => {
        const message = Buffer.concat([numberField(7, number), bytesField(300, bytes)]);
        expect([...wireFields(message)]).toEqual([
          { number: 7, value: number },
          { number: 300, bytes: message.subarray(message.length - bytes.length) },
        ]);
      }),
    );
  });

  test("any bytes are read without a fault, and never for ever", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect([...wireFields(bytes)].length).toBeLessThanOrEqual(bytes.length);
      }),
    );
  });
});
