import { expect, test } from "bun:test";
import { exitMeaning, signalOf } from "../../../../src/base/pure/exit-code.ts";

test.each<[number | undefined, string | undefined]>([
  [137, "SIGKILL"],
  [143, "SIGTERM"],
  [139, "SIGSEGV"],
  [134, "SIGABRT"],
  [0, undefined],
  [1, undefined],
  [128, undefined],
  [255, undefined],
  [undefined, undefined],
])("exit code %p is %p", (code, signal) => expect(signalOf(code)).toBe(signal));

test("shell conventions", () => {
  expect(exitMeaning(127)).toBe("the command was not found");
  expect(exitMeaning(126)).toBe("the command cannot be executed");
  expect(exitMeaning(1)).toBeUndefined();
});
