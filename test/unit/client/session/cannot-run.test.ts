import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/base/wire/client.ts";
import { cannotRun } from "../../../../src/client/session/exec-session.ts";

const refused = (code?: number) => new ApiError(409, "cannot run it", code ? { fields: { exit_code: code } } : {});

test.each([126, 127])("a program that cannot begin ends with %d, as in a shell", (code) => {
  expect(cannotRun(refused(code), ["nosuch"])).toMatchObject({ exitCode: code, message: "cannot run it" });
});

test("a shell that the image does not have gets a hint", () => {
  expect(cannotRun(refused(127), ["/bin/bash", "-l"])).toMatchObject({
    exitCode: 127,
    message: expect.stringMatching(/: try sh$/),
  });
});

test("any other refusal, and what is none, stays what it is", () => {
  for (const error of [refused(), new Error("x")]) expect(cannotRun(error, ["bash"])).toBe(error);
});
