import { expect, test } from "bun:test";
import { type Call, cli, refusal } from "../../../support/cli.ts";

const id = "5b8efff798038103d269b633813fc60c";
const row = {
  ...{ trace_id: id, at: "2026-01-01T20:00:00.000Z", duration_ms: 1_240, root: "POST /pay\u001b[2J" },
  ...{ apps: ["shop/web", "shop/worker"], spans: 2, errors: 1 },
};
const span = {
  ...{ span_id: "a1", name: "POST /pay", depth: 0, kind: "server", scope: "shop", app: "web", service: "web" },
  ...{ replica_id: "a1b2", at: row.at, offset_ms: 0, duration_ms: 1_240, error: false, attributes: {}, events: [] },
};
const child = { ...span, span_id: "b2", name: "charge", depth: 1, app: "worker", offset_ms: 620, duration_ms: 0.42 };
const trace = { ...row, tree: [span, { ...child, error: true, message: "declined" }], more: 3 };

function scene() {
  const calls: Call[] = [];
  const answers: Record<string, unknown> = {
    "/traces": { traces: [row], cursor: "1.a", searched_to: "2026-01-01T19:00:00.000Z" },
    [`/traces/${id}`]: trace,
  };
  const server = (call: Call): unknown => {
    calls.push(call);
    return answers[call.path] ?? refusal(404, `no ${call.path}`);
  };
  return { calls, run: (...words: string[]) => cli(words, { server }) };
}

test("traces lists what took how long, and asks for what the flags say", async () => {
  const { calls, run } = scene();
  const { out } = await run("traces", "shop/web", "--error", "--min-duration", "1s", "--since", "1h", "-n", "5");
  const query = { app: "shop/web", error: "true", min_duration: "1s", since: "1h", limit: "5" };
  expect(calls[0]?.query).toEqual(query);
  const cells = out.split("\n")[1]?.split(/ {2,}/) ?? [];
  expect(cells.slice(0, 6)).toEqual([id, "2026-01-01 20:00:00Z", "1240 ms", "2", "1", "shop/web shop/worker"]);
  expect(out).toContain("there are older ones");
  expect(out).toContain("2026-01-01 19:00:00Z were not looked at");
  expect(out).not.toContain("\u001b");
});

test("traces show has the spans as a tree with their place in time", async () => {
  const { out } = await scene().run("traces", "show", id);
  expect(out).toMatch(/\n {2}charge +shop\/worker +620 ms +0\.42 ms +·{12}━·{11} +declined/);
  expect(out).toContain("3 more spans");
  expect(out).toContain(`berth logs --field trace_id=${id}`);
});

test.each([
  [["traces", "show"], "say which trace"],
  [["traces", "list", "shop/web", "shop/api"], "one word too many"],
])("%j is a usage error", async (words, text) => {
  const { code, err } = await scene().run(...words);
  expect([code, err]).toEqual([2, expect.stringContaining(text)]);
});
