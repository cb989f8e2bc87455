import { expect, test } from "bun:test";
import { causesOf } from "../../../../../src/observability/core/incidents/causes.ts";
import type { Why } from "../../../../../src/orchestration/api/why.ts";

const at = Date.parse("2026-01-01T12:00:00Z");
const event = (secondsBefore: number, action: string) => ({
  ...{ seq: secondsBefore, at: new Date(at - secondsBefore * 1_000).toISOString(), actor: "ana", action },
  ...{ kind: "deployment", scope: "shop", name: "web", detail: {} },
});
const why = (more: object) =>
  ({ kind: "deployment", scope: "shop", name: "web", events: [], ...more }) as unknown as Why;

test("the change whose release failed comes before what was done later, the death comes last", () => {
  const story = why({
    events: [event(300, "config.set"), event(120, "manifest.apply"), event(80, "pod.stop")],
    failed_release: { id: "0tp2", started_at: new Date(at - 119_000).toISOString() },
    death: { replica_id: "r1", at: new Date(at).toISOString(), reason: "exited", oom_killed: false },
  });
  expect(causesOf(story, at).map(({ kind, ref }) => [kind, ref])).toEqual([
    ["deploy", "0tp2"],
    ["config", undefined],
    ["change", "0tp2"],
    ["death", undefined],
  ]);
});

test("what is long ago, or after it, is no cause", () => {
  const story = why({ events: [event(3_600, "manifest.apply"), event(-10, "manifest.apply")] });
  expect(causesOf(story, at)).toEqual([]);
});
