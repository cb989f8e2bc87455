import { expect, test } from "bun:test";
import {
  alertTone,
  deliveryTone,
  heartbeatTone,
  ruleBody,
  severityTone,
  watchText,
} from "../../../../src/ui/text/alerts.ts";
import { defaultRules } from "../../../../src/observability/core/alerts/default-rules.ts";

test("only what is over or well is green", () => {
  expect(alertTone({ state: "firing", severity: "critical" })).toBe("bad");
  expect(alertTone({ state: "firing", severity: "info" })).toBe("work");
  expect(alertTone({ state: "pending", severity: "critical" })).toBe("warn");
  expect(alertTone({ state: "resolved", severity: "critical" })).toBe("good");
  expect(severityTone("info")).not.toBe("good");
  expect([deliveryTone("delivered"), deliveryTone("dropped"), deliveryTone("waiting")]).toEqual([
    "good",
    "bad",
    "work",
  ]);
  expect(["ok", "failing", "off", "held"].map(heartbeatTone)).toEqual(["good", "bad", "idle", "warn"]);
});

test("what a rule watches is a sentence", () => {
  expect(watchText({ type: "platform", condition: "crash_loop" })).toBe(
    "a replica that dies again and again (crash loop)",
  );
  // None of the default rules is only the word of its condition.
  for (const { watch } of Object.values(defaultRules)) expect(watchText(watch).split(" ").length).toBeGreaterThan(2);
  expect(watchText({ type: "platform", condition: "disk_full", limit: 90 })).toBe("a disk that is 90 % full");
  expect(watchText({ type: "platform", condition: "backup", limit: 8 })).toBe("no backup for 8 days");
  expect(watchText({ type: "platform", condition: "certificate", limit: 14 })).toBe(
    "a certificate that ends within 14 days",
  );
  expect(watchText({ type: "requests", failed_percent: 5 })).toBe("more than 5 % of the requests fail");
  expect(watchText({ type: "requests", p99_ms: 900 })).toBe("requests slower than 900 ms (p99)");
  expect(watchText({ type: "metric", metric: "cpu_percent", above: 90 })).toBe("avg of cpu_percent over 5m above 90");
  expect(watchText({ type: "log", pattern: "fatal", more_than: 3 })).toBe('more than 3 lines with "fatal" within 5m');
});

test("a rule is written back without what only answers have", () => {
  const watch = { type: "platform", condition: "down" } as const;
  const body = { watch, severity: "critical", for: "1m", keep: "2m", enabled: false } as const;
  expect(ruleBody({ name: "down", origin: "default", firing: 0, ...body })).toEqual(body);
});
