import { describe, expect, test } from "bun:test";
import { type Call, cli } from "../../../support/cli.ts";

/** A screen that is cleared, a control of one character, and text that runs backwards. */
const driving = "a\x1b[2J\u009b31m\u202eb";
const calm = "a\\u001b[2J\\u009b31m\\u202eb";

/** Values that other programs read: to them an escape is a byte like any other. */
const doors: Record<string, { argv: string[]; server: (call: Call) => unknown }> = {
  "one value of a config": {
    argv: ["config", "get", "shop/web", "KEY"],
    server: () => ({ KEY: driving }),
  },
  "some values of a config": {
    argv: ["config", "get", "shop/web", "KEY", "MORE"],
    server: () => ({ vars: { KEY: driving, MORE: "x" } }),
  },
  "a config as a file": {
    argv: ["env", "pull", "shop/web", "-"],
    server: () => ({ vars: { KEY: driving } }),
  },
  "users of an instance": {
    argv: ["identity", "export", "--instance", "ins_1"],
    server: () =>
      new Response(`{"id":"${driving}"}\n{"end":true,"users":1}\n`, {
        headers: { "Content-Type": "application/x-ndjson" },
      }),
  },
};

describe.each(Object.entries(doors))("%s", (_, { argv, server }) => {
  test("goes to a pipe byte for byte, and to a terminal without what drives it", async () => {
    const piped = await cli(argv, { server });
    expect(piped).toMatchObject({ code: 0, err: "" });
    expect(piped.out).toContain(driving);
    const shown = await cli(argv, { server, typed: [] });
    expect(shown.out).toContain(calm);
    expect(shown.out).not.toContain("\x1b[2J");
  });
});

test("stored lines as JSON are the same JSON without controls in it", async () => {
  const line = { at: "2026-01-31T13:05:00.000Z", pod: "shop-web.a", stream: "stdout", level: "none", text: driving };
  const { code, out } = await cli(["logs", "shop/web", "--grep", "a", "-o", "json"], {
    server: () => ({ lines: [line], matched: 1 }),
  });
  expect(code).toBe(0);
  expect(out).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
  expect(JSON.parse(out)).toMatchObject({ text: driving });
});
