import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Activity, AuditRow } from "../../../src/observability/api/activity.ts";
import type { Controller } from "../../../src/orchestration/controller/controller.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

const at = (index: number) => new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString();
const event = (seq: number, scope: string, action: string, actor = "ana") => ({
  ...{ seq, at: at(seq), actor, action, kind: "deployment", scope, name: "web" },
});
const events = [
  event(1, "shop", "manifest.apply"),
  event(2, "back", "config.set"),
  event(3, "shop", "config.set", "cli:ben"),
  { seq: 4, at: at(4), actor: "system", action: "engine.lost" },
];

const answers = {
  events: ({ after, limit = 100 }: { after?: number; limit?: number }) => ({
    events: events.filter(({ seq }) => after === undefined || seq > after).slice(-limit),
  }),
} as unknown as Partial<Controller>;

let it: PlaneWorld;
beforeEach(() => {
  it = planeWorld({ controller: answers });
});
afterEach(() => it.close());

const seqs = (data: Record<string, unknown>) => (data.events as Activity[]).map(({ seq }) => seq);

test("events come newest first, in pages, with a sentence each", async () => {
  const token = await it.token();
  const first = await it.ask("GET /events?limit=3", { token });
  expect([seqs(first.data), first.data.next]).toEqual([[4, 3, 2], "2"]);
  expect((first.data.events as Activity[])[1]?.title).toContain("shop/web");
  expect(seqs((await it.ask("GET /events?limit=3&cursor=2", { token })).data)).toEqual([1]);
});

test.each([
  ["app=shop", [3, 1]],
  ["app=shop/api", []],
  ["type=config", [3, 2]],
  ["actor=cli:", [3]],
  [`since=${encodeURIComponent(at(3))}`, [4, 3]],
])("events of %s", async (query, wanted) => {
  expect(seqs((await it.ask(`GET /events?${query}`, { token: await it.token() })).data)).toEqual(wanted as number[]);
});

test("a token for some apps sees their events alone", async () => {
  const token = await it.token(["read"], { apps: ["shop"] });
  expect(seqs((await it.ask("GET /events", { token })).data)).toEqual([3, 1]);
});

test("a wrong time, limit or cursor is a 400 that names it", async () => {
  const token = await it.token();
  for (const query of ["since=soon", "limit=many", "cursor=-1"]) {
    const answer = await it.ask(`GET /events?${query}`, { token });
    expect([query, answer.status]).toEqual([query, 400]);
    expect(answer.error).toContain(query.split("=")[0] ?? "");
  }
});

test("the audit tells what tokens changed, with their names, and needs admin", async () => {
  const token = await it.token(["read", "actions", "admin"], { name: "panel" });
  await it.ask("POST /apps/shop/web/restart", { token });
  const { data, status } = await it.ask("GET /audit?app=shop", { token });
  expect(status).toBe(200);
  expect(data.rows as AuditRow[]).toMatchObject([
    { actor: `pat:${token.slice(4, 10)}`, actor_name: "panel", scope: "shop", name: "web", status: 404 },
  ]);
  expect((data.rows as AuditRow[])[0]?.action).toContain("restart");
  expect((await it.ask("GET /audit?app=back", { token })).data.rows).toEqual([]);
  expect((await it.ask("GET /audit", { token: await it.token(["read"]) })).status).toBe(403);
});
