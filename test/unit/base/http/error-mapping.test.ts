import type { ErrorEnvelope } from "../../../../src/base/wire/envelope.ts";
import { expect, test } from "bun:test";
import { Failure, type FailureCode, failureStatus } from "../../../../src/base/wire/failure.ts";
import { mapError } from "../../../../src/base/http/error-mapping.ts";
import { createLog } from "../../../../src/base/words/log.ts";
import { parseJson } from "../../../../src/base/words/json.ts";

async function map(error: unknown) {
  const lines: string[] = [];
  const response = mapError(
    error,
    createLog((line) => lines.push(line), "debug"),
  );
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as ErrorEnvelope,
    lines,
  };
}

test.each(Object.entries(failureStatus) as [FailureCode, number][])(
  "%s is %d and is not logged",
  async (code, status) => {
    const { body, lines, ...answer } = await map(new Failure(code, "text", { cause: new Error("private") }));
    expect(answer.status).toBe(status);
    expect(body).toEqual({ status: "error", error: "text", code });
    expect(lines).toEqual([]);
  },
);

test("reason, fields and problems of a failure stand beside its text", async () => {
  const place = { manifest: 2, numbered: true, within: ["deployment/shop/web"] };
  const problems = [{ path: "spec.image", message: "is masked", place }];
  const failure = new Failure("conflict", "text", { reason: "RevisionConflict", fields: { revision: 3 }, problems });
  expect((await map(failure)).body).toEqual({
    status: "error",
    error: "text",
    code: "conflict",
    reason: "RevisionConflict",
    fields: { revision: 3 },
    problems: [{ manifest: 2, within: ["deployment/shop/web"], path: "spec.image", message: "is masked" }],
  });
});

test("broken JSON is told with its place", async () => {
  const error = (() => {
    try {
      return parseJson('{"a":\n}', { depthMax: 4 });
    } catch (thrown) {
      return thrown;
    }
  })();
  expect((await map(error)).body).toEqual({
    status: "error",
    error: 'body line 2 column 1: expected a value but found "}"',
    code: "invalid",
    fields: { line: 2, column: 1 },
  });
});

test.each([[new Error("private")], ["private"], [undefined], [{ code: "invalid", message: "private" }]])(
  "anything else is an internal error that shows nothing",
  async (thrown) => {
    const { status, body, lines } = await map(thrown);
    expect(status).toBe(500);
    expect(body.error).toMatch(/^internal error, id [0-9a-f]{8}$/);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(body.error.slice(-8));
  },
);
