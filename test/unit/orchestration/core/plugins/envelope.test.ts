import { describe, expect, test } from "bun:test";
import {
  createErrorLines,
  failureText,
  readReply,
  stderrError,
} from "../../../../../src/orchestration/core/plugins/envelope.ts";

const read = (text: string) => readReply(text, { jsonDepthMax: 64 });

describe("what was printed", () => {
  test.each([
    ['{"status":"ok"}', { type: "ok", data: undefined }],
    ['\n {"status":"ok","data":{"message":"m"}} \n', { type: "ok", data: { message: "m" } }],
    ['{"status":"ok","data":null}', { type: "ok", data: undefined }],
    ['{"data":[1],"status":"ok"}', { type: "ok", data: [1] }],
    ['{"status":"error","error":" no "}', { type: "error", error: "no" }],
    ['{"status":"error"}', { type: "error", error: "it failed without saying why" }],
  ])("%p is an answer", (text, reply) => expect(read(text)).toEqual(reply as ReturnType<typeof read>));

  test.each([
    ["hello\n\n", "hello"],
    ["", ""],
    ["  indented\r\n", "  indented"],
    ['{"replicas":2}\n', '{"replicas":2}'],
    ['{"status":""}', '{"status":""}'],
    ['{"status":7}', '{"status":7}'],
    ["[1,2]", "[1,2]"],
    ["{ not json", "{ not json"],
    ['{"a":1}\n{"b":2}', '{"a":1}\n{"b":2}'],
  ])("%p is text", (text, plain) => expect(read(text)).toEqual({ type: "text", text: plain }));

  test.each([
    ['{"status":"ok","da', "not one whole JSON object"],
    ['{"status":"ok"}{"status":"ok"}', "not one whole JSON object"],
    ['{"data":[1,', "not one whole JSON object"],
    ['{"status":"done"}', 'status "done"'],
    [`{"status":"ok","data":${"[".repeat(70)}${"]".repeat(70)}}`, "nested too deeply"],
    ['{"status":"ok","data":{"__proto__":{}}}', "__proto__"],
    ['{"status":"ok","data":"a\\u0000b"}', "NUL"],
  ])("%p is broken", (text, why) => expect(read(text)).toEqual({ type: "broken", why: expect.stringContaining(why) }));
});

describe("why it failed", () => {
  const text = { type: "text", text: "" } as const;

  test("the envelope on stdout first, then the last line of stderr, then stderr, then stdout", () => {
    const line = '{"status":"error","error":"<gone>"}';
    expect(failureText({ type: "error", error: "no" }, line)).toBe("no");
    expect(failureText(text, `${line}\n`)).toBe("<gone>");
    expect(failureText(text, `looking\nharder\n${line}\n`)).toBe("<gone>\nlooking\nharder");
    expect(failureText({ type: "text", text: "out" }, " words \n")).toBe("words");
    expect(failureText({ type: "text", text: "out" }, "\n")).toBe("out");
    expect(failureText(text, "")).toBe("no output");
  });

  test("only the last part of a long story", () => {
    expect(failureText(text, "x".repeat(10_000)).length).toBeLessThan(2_100);
  });

  test.each(["", "words", "{", '{"status":"ok"}', '{"status":"error"}', '{"error":"x"}', "[1]"])(
    "%p at the end of stderr is no error of its own",
    (line) => expect(stderrError(`before\n${line}`)).toBeUndefined(),
  );
});

test("an error envelope on standard error waits: it is progress only where something follows, or the command succeeds", () => {
  const shown: string[] = [];
  const lines = createErrorLines((line) => void shown.push(line));
  const envelope = '{"status":"error","error":"no such database"}';
  for (const line of ["looking", '{"level":"info"}', envelope]) lines.push(line);
  expect(shown).toEqual(["looking", '{"level":"info"}']);
  lines.push("again");
  expect(shown).toEqual(["looking", '{"level":"info"}', envelope, "again"]);
  lines.push(envelope);
  lines.rest();
  lines.rest();
  expect(shown.slice(4)).toEqual([envelope]);
  // What the answer says as well is not told twice.
  lines.push(envelope);
  lines.rest("no such database");
  lines.push(envelope);
  lines.rest("another error");
  expect(shown.slice(5)).toEqual([envelope]);
});
