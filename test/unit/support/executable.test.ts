import { expect, test } from "bun:test";
import { readyLine } from "../../support/executable.ts";

const ready = '{"level":"info","message":"ready","addr":"127.0.0.1:1"}';

test("finds the ready line among others", () => {
  const text = `plain text that says "ready"\n`.replace('"ready"', "ready");
  expect(readyLine(`${text}{"message":"not ready"}\n${ready}\n`)).toMatchObject({ addr: "127.0.0.1:1" });
});

test("a line that is not whole yet does not count", () => {
  expect(readyLine(ready)).toBeUndefined();
  expect(readyLine(ready.slice(0, 30))).toBeUndefined();
});

test("another message that mentions it does not count", () => {
  expect(readyLine('{"message":"pod changed","state":"ready"}\n')).toBeUndefined();
});
