import { expect, test } from "bun:test";
import { jsonLines } from "../../../../../src/orchestration/engine/docker/json-lines.ts";
import { expectFailure } from "../../../../support/failure.ts";

async function* chunks(...parts: (string | Uint8Array)[]) {
  yield* parts;
}
const rows = (...parts: (string | Uint8Array)[]) => Array.fromAsync(jsonLines(chunks(...parts)));

test("rows across chunks, several in a chunk, empty lines and carriage returns", async () => {
  expect(await rows('{"a":', '1}\n{"b":2}\r\n\n', "[3]", "\n")).toEqual([{ a: 1 }, { b: 2 }, [3]]);
});

test("a letter cut in two", async () => {
  const bytes = new TextEncoder().encode('"ä€😀"\n');
  expect(await rows(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(["ä€😀"]);
});

test("an unfinished last row is given up", async () => {
  expect(await rows('1\n{"a":')).toEqual([1]);
});

test("a row that is not JSON, or has no end, is no engine speaking", async () => {
  await expectFailure(rows("1\nnot json\n"), "unavailable", "EngineUnavailable");
  await expectFailure(
    rows(...Array.from({ length: 5 }, () => "x".repeat(1024 * 1024))),
    "unavailable",
    "EngineUnavailable",
  );
});
