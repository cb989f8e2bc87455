import { expect, test } from "bun:test";
import { troubledDrains } from "../../../../src/client/text/drain-text.ts";
import type { Drain } from "../../../../src/observability/api/log-drains.ts";

const now = Date.UTC(2026, 0, 31, 13);
const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
const drain: Drain = {
  ...{ name: "loki", type: "http", target: "logs.test", apps: [], created_at: ago(9_000), delivered_lines: 12 },
  ...{ delivered_until: ago(90), state: "waiting for lines", failures: 0, refused_lines: 0 },
};
const last_refused = { at: ago(60), app: "shop/web", result: "status 400" };

test.each<[string, Partial<Drain>, string[]]>([
  ["waits for lines", {}, []],
  ["is behind for a moment", { state: "behind", oldest_waiting_at: ago(1) }, []],
  ["is behind", { state: "behind", oldest_waiting_at: ago(20) }, ["20m behind"]],
  ["fails", { state: "failing", oldest_waiting_at: ago(2), last_error: "status 401" }, ["2m behind; status 401"]],
  [
    "had to leave a line out",
    { refused_lines: 1, last_refused },
    ["1 line was refused and left out, the last of shop/web: status 400"],
  ],
  ["had to leave a line out long ago", { refused_lines: 1, last_refused: { ...last_refused, at: ago(3_000) } }, []],
])("a drain that %s", (_, change, texts) => {
  expect(troubledDrains([{ ...drain, ...change }], now).map(({ text }) => text)).toEqual(texts);
});
