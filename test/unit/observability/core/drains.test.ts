import { expect, test } from "bun:test";
import type { DrainTarget } from "../../../../src/observability/api/log-drains.ts";
import { batchOf } from "../../../../src/observability/core/drains/batch.ts";
import { jsonLine, objectName, syslogFrame, syslogMessage } from "../../../../src/observability/core/drains/formats.ts";
import { drainProblems, drainText } from "../../../../src/observability/core/drains/target.ts";
import type { FoundLine } from "../../../../src/observability/core/logs/line.ts";

const line: FoundLine = {
  app: { scope: "shop", name: "web" },
  at: Date.UTC(2026, 0, 31, 13, 5, 7, 89),
  source: { id: "c", pod: "shop-web.ab12c", replica: "ab12c", release: 'r"2]', role: "" },
  stream: "stderr",
  level: "error",
  text: "größer",
};

test("a syslog message has the severity of the level, and its fields escaped", () => {
  expect(syslogMessage(line, "vps 1")).toBe(
    String.raw`<131>1 2026-01-31T13:05:07.089Z vps_1 shop.web ab12c - [berth@32473 scope="shop" name="web" pod="shop-web.ab12c" release="r\"2\]" stream="stderr"]`.concat(
      " größer",
    ),
  );
  const frames = Buffer.from([line, line].map((one) => syslogFrame(one, "vps1")).join(""));
  const length = Number.parseInt(frames.toString(), 10);
  const first = frames.subarray(String(length).length + 1, String(length).length + 1 + length);
  expect(first.toString()).toEndWith("größer");
  expect(frames.length).toBe(2 * (String(length).length + 1 + length));
});

test("a JSON line has the names of the search, an object that of its first line", () => {
  expect(JSON.parse(jsonLine(line, "vps1"))).toEqual({
    at: "2026-01-31T13:05:07.089Z",
    host: "vps1",
    scope: "shop",
    name: "web",
    pod: "shop-web.ab12c",
    replica_id: "ab12c",
    release_id: 'r"2]',
    stream: "stderr",
    level: "error",
    text: "größer",
  });
  expect(objectName("logs/", { at: line.at, skip: 3 })).toBe("logs/2026/01/31/130507-1769864707089-3.jsonl.gz");
});

test("faults of a drain are named with their place, and its text has no secrets", () => {
  const http = { type: "http", url: "https://logs.test/in?token=abc", headers: { Authorization: "Bearer x" } } as const;
  expect(drainProblems("a", { target: http })).toEqual([]);
  expect(drainText(http)).toBe("logs.test");
  expect(drainText({ type: "syslog", host: "logs.test", port: 6514 })).toBe("logs.test:6514 (TLS)");
  expect(
    drainText({
      type: "s3",
      bucket: "b",
      prefix: "p/",
      access_key_id: "i",
      secret_access_key: "s",
      endpoint: "https://s3.test",
    }),
  ).toBe("b/p/ at s3.test");
  const wrong = drainProblems("A b", { target: { ...http, url: "ftp://x" }, apps: ["a//b"], level: "loud" });
  expect(wrong.map(({ path }) => path)).toEqual(["", "apps[0]", "level", "target.url"]);
});

test.each(["http", "syslog"] as const)("a batch for %s counts the bytes that are sent, not the characters", (type) => {
  const target: DrainTarget = type === "http" ? { type, url: "https://x.test/" } : { type, host: "x.test", port: 1 };
  const japanese = Array.from({ length: 100 }, () => ({ ...line, text: `${"日本語\n\u0001".repeat(200)}` }));
  const { lines, texts } = batchOf(japanese, { target, hostname: "vps1", bytesMax: 100_000 });
  const bytes = Buffer.byteLength(texts.join(""));
  expect(bytes).toBeLessThanOrEqual(100_000);
  expect(bytes).toBeGreaterThan(90_000);
  expect(lines).toHaveLength(texts.length);
  expect(batchOf(japanese, { target, hostname: "vps1", bytesMax: 1 }).lines).toHaveLength(1);
});
