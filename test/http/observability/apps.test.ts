import { afterEach, beforeEach, expect, test } from "bun:test";
import type { App } from "../../../src/observability/api/app-model.ts";
import type { AppDetail, Deploy, Overview } from "../../../src/observability/api/apps.ts";
import { appFacts, replicaFacts } from "../../support/app-facts.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const calm = { upSince: now - 120_000, startedAt: now - 120_000 };
const web = appFacts({
  pods: [replicaFacts(calm)],
  release: {
    id: "r2",
    status: "succeeded",
    cause: "apply",
    actor: "ana",
    message: "second",
    image: "web:2",
    rolledBackFrom: undefined,
    startedAt: now - 60_000,
    endedAt: now - 50_000,
    error: undefined,
  },
  rollbackTo: "r1",
});
const api = appFacts({
  scope: "back",
  name: "api",
  pods: [replicaFacts({ name: "back-api.abcde", upSince: now - 1_000, crashes: 5, restarts: 5, exitCode: 1 })],
});

let it: PlaneWorld;
beforeEach(() => {
  it = planeWorld({ apps: [web, api] });
});
afterEach(() => it.close());

const apps = (answer: { data: Record<string, unknown> }) => answer.data.apps as App[];

test("apps are listed with the worst first", async () => {
  const token = await it.token();
  const answer = await it.ask("GET /apps", { token });
  expect(answer.status).toBe(200);
  expect(apps(answer).map(({ scope, name, state }) => [scope, name, state])).toEqual([
    ["back", "api", "crashing"],
    ["shop", "web", "ready"],
  ]);
  expect(apps(answer)[1]).toEqual({
    kind: "deployment",
    scope: "shop",
    name: "web",
    state: "ready",
    summary: "1 of 1 ready",
    desired: 1,
    ready: 1,
    image: "web:1",
    revision: 1,
    updated_at: "1970-01-01T00:00:00.000Z",
    restarts: 0,
    release: {
      id: "r2",
      status: "succeeded",
      cause: "apply",
      actor: "ana",
      message: "second",
      image: "web:2",
      started_at: "2025-12-31T23:59:00.000Z",
      ended_at: "2025-12-31T23:59:10.000Z",
    },
    hosts: [],
    problems: [],
  });
});

test("a list can be narrowed by scope and state, and a wrong state is a 400", async () => {
  const token = await it.token();
  expect(apps(await it.ask("GET /apps?scope=shop", { token })).map(({ name }) => name)).toEqual(["web"]);
  expect(apps(await it.ask("GET /apps?state=crashing,down", { token })).map(({ name }) => name)).toEqual(["api"]);
  const wrong = await it.ask("GET /apps?state=green", { token });
  expect([wrong.status, wrong.error]).toEqual([400, expect.stringContaining('"green" is not a state')]);
});

test("what a token may not reach is left out, and is a 404 as what does not exist", async () => {
  const token = await it.token(["read"], { apps: ["shop"] });
  expect(apps(await it.ask("GET /apps", { token })).map(({ name }) => name)).toEqual(["web"]);
  const overview = (await it.ask("GET /overview", { token })).data as unknown as Overview;
  expect(overview.problems).toEqual([]);
  expect(overview.apps.map(({ name }) => name)).toEqual(["web"]);
  expect(JSON.stringify(overview)).not.toContain("api");
  for (const path of ["/apps/back/api", "/apps/back/nothing"]) {
    const answer = await it.ask(`GET ${path}`, { token });
    const name = path.slice("/apps/".length);
    expect([answer.status, answer.error]).toEqual([404, `app ${name} does not exist, or this token may not see it`]);
  }
});

test("one app comes with its replicas, why they are not ready, and its manifest", async () => {
  const token = await it.token();
  const answer = await it.ask("GET /apps/back/api", { token });
  expect(answer.status).toBe(200);
  const detail = answer.data as unknown as AppDetail;
  expect(detail.replicas).toEqual([
    {
      pod: "back-api.abcde",
      replica_id: "abcde",
      state: "crashing",
      reason: "restarted 5 times in a row, last exit code 1",
      ready: false,
      image: "web:1",
      started_at: "1970-01-01T00:00:00.000Z",
      restarts: 5,
      ports: [],
      node: "local",
    },
  ]);
  expect(detail.manifest).toBeDefined();
  const shop = (await it.ask("GET /apps/shop/web", { token })).data as unknown as AppDetail;
  expect(shop.rollback_to).toBe("r1");
});

test("an app that two kinds have needs the kind", async () => {
  it.watch.put({ ...web, kind: "statefulset" });
  const token = await it.token();
  const answer = await it.ask("GET /apps/shop/web", { token });
  expect([answer.status, answer.error]).toEqual([400, expect.stringContaining("add kind=deployment")]);
  expect((await it.ask("GET /apps/shop/web?kind=statefulset", { token })).data.kind).toBe("statefulset");
});

test("the overview begins with what needs attention", async () => {
  const token = await it.token();
  const overview = (await it.ask("GET /overview", { token })).data as unknown as Overview;
  expect(overview.problems.map(({ title, command }) => [title, command])).toEqual([
    ["back/api crashes again and again", "berth why back/api"],
    ["the last run of s/report failed", "berth why s/report"],
  ]);
  expect(overview.counts).toEqual({ crashing: 1, ready: 1 });
  expect(overview.engine).toEqual({ up: true, since: "1970-01-01T00:00:00.000Z" });
  expect(overview.deploys.map(({ id, app }) => [id, app.name])).toEqual([["r2", "web"]]);
});

test("while the engine is away nothing is shown as ready, and every token learns why", async () => {
  it.watch.engineDown("connect ENOENT");
  const token = await it.token(["read"], { apps: ["shop"] });
  const overview = (await it.ask("GET /overview", { token })).data as unknown as Overview;
  expect(overview.apps.map(({ state }) => state)).toEqual(["unknown"]);
  expect(overview.problems[0]).toMatchObject({ id: "engine", severity: "critical", cause: "connect ENOENT" });
});

test("an app that is gone is gone from every list", async () => {
  const token = await it.token();
  await it.ask("GET /apps", { token });
  it.watch.remove(api);
  expect(apps(await it.ask("GET /apps", { token })).map(({ name }) => name)).toEqual(["web"]);
});

test("the newest release of each app is among the deploys", async () => {
  const token = await it.token();
  const answer = await it.ask("GET /deploys", { token });
  expect((answer.data.deploys as Deploy[]).map(({ id }) => id)).toEqual(["r2"]);
  expect((await it.ask("GET /deploys?limit=999", { token })).status).toBe(400);
});

test("the deploys go back as far as releases are kept, page by page, and only those of apps that a token may see", async () => {
  const newest = web.release as NonNullable<typeof web.release>;
  const older = [3, 2, 1].map((at) => ({ ...newest, id: `old${at}`, startedAt: newest.startedAt - 10_000 + at }));
  it.watch.before.push(...older, { ...newest, id: "old0", startedAt: newest.startedAt - 10_000 + 1 });
  const token = await it.token(["read"], { apps: ["shop"] });
  const page = async (query: string) => {
    const { data } = await it.ask(`GET /deploys?${query}`, { token });
    return { ids: (data.deploys as Deploy[]).map(({ id }) => id), next: data.next as string | undefined };
  };
  expect(await page("history=true")).toEqual({ ids: ["r2", "old3", "old2", "old1", "old0"], next: undefined });
  const first = await page("history=true&limit=2");
  expect(first.ids).toEqual(["r2", "old3"]);
  const second = await page(`history=true&limit=2&cursor=${first.next}`);
  expect(second.ids).toEqual(["old2", "old1"]);
  expect(await page(`history=true&limit=2&cursor=${second.next}`)).toEqual({ ids: ["old0"], next: undefined });
  expect((await page("limit=2")).ids).toEqual(["r2"]);
  expect((await it.ask("GET /deploys?cursor=x", { token })).status).toBe(400);
  // A search goes over all of them, and a page of it goes on where it ended.
  it.watch.before.push({ ...newest, id: "zoes", startedAt: newest.startedAt - 5_000, actor: "Zoe", status: "failed" });
  expect((await page("history=true&by=zOE")).ids).toEqual(["zoes"]);
  expect((await page("history=true&status=failed&app=shop/web")).ids).toEqual(["zoes"]);
  expect((await page("history=true&app=shop/other")).ids).toEqual([]);
  const since = encodeURIComponent(new Date(newest.startedAt - 6_000).toISOString());
  expect((await page(`history=true&since=${since}`)).ids).toEqual(["r2", "zoes"]);
  expect((await it.ask("GET /deploys?app=/", { token })).status).toBe(400);
  expect((await it.ask("GET /deploys?status=done", { token })).error).toBe(
    'query status: "done" is none of pending, running, succeeded, failed',
  );
  const other = await it.token(["read"], { apps: ["other"] });
  expect((await it.ask("GET /deploys?history=true", { token: other })).data.deploys).toEqual([]);
});

test("a release that a token asked for has the name of the token, in each place that shows it", async () => {
  const token = await it.token(["read"], { name: "night shift" });
  const actor = `pat:${token.slice(4, 10)}`;
  const release = { ...web.release, actor } as NonNullable<typeof web.release>;
  it.watch.put({ ...web, release });
  const named = { actor, actor_name: "night shift" };
  expect((await it.ask("GET /deploys", { token })).data.deploys).toMatchObject([named]);
  expect((await it.ask("GET /apps/shop/web", { token })).data.release).toMatchObject(named);
});
