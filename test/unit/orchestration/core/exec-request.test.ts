import { expect, test } from "bun:test";
import { readExecBody, readRunAppBody } from "../../../../src/orchestration/core/exec-request.ts";

test("what is left out is empty", () => {
  expect(readExecBody({ command: ["ls"] })).toEqual({ command: ["ls"], env: [] });
  expect(readExecBody({ command: ["ls", ""], env: null })).toEqual({ command: ["ls", ""], env: [] });
  expect(readExecBody({ command: ["ls"], env: ["A=", "B==", "C=\n"] }).env).toEqual(["A=", "B==", "C=\n"]);
});

test.each<[unknown, string]>([
  [null, "the body must be an object"],
  ["ls", "the body must be an object"],
  [{ command: "ls" }, "command: must be a list"],
  [{ command: ["ls", 1] }, "command: must be a list"],
  [{ command: ["ls", "a\0b"] }, "command[1]: holds a NUL"],
  [{ command: ["ls"], env: { A: "1" } }, "env: must be a list"],
  [{ command: ["ls"], env: ["=x"] }, "env[0]: is not KEY=value"],
  [{ command: ["ls"], env: ["A=1", "A=\0"] }, "env[1]: holds a NUL"],
])("%p", (body, text) => {
  expect(() => readExecBody(body)).toThrow(text);
});

test("every fault is told, and no value of env", () => {
  const attempt = () => readExecBody({ command: [], env: ["s3cret"] });
  expect(attempt).toThrow(/^command: .*\nenv\[0\]: /);
  expect(attempt).not.toThrow(/s3cret/);
});

test("a run takes an entrypoint beside the command, the empty one too", () => {
  expect(readRunAppBody({ command: ["ls"] })).toEqual({ command: ["ls"], env: [] });
  expect(readRunAppBody({ command: ["ls"], entrypoint: "" }).entrypoint).toBe("");
  expect(() => readRunAppBody({ command: ["ls"], entrypoint: ["sh"] })).toThrow("entrypoint: must be a text");
  expect(() => readRunAppBody({ command: ["ls"], entrypoint: "a\0" })).toThrow("entrypoint: holds a NUL");
});
