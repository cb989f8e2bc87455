import { afterEach, beforeEach, expect, test } from "bun:test";
import { Failure } from "../../../src/base/wire/failure.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

let it: PlaneWorld;

beforeEach(async () => {
  it = planeWorld({
    controller: {
      listManifests: () => [
        {
          ...{ kind: "deployment", scope: "shop", name: "web", spec: {} },
          status: { phase: "failing", replicas: 2, ready_replicas: 0, conditions: [], releases: [] },
        },
      ],
    },
  });
  const { alerts } = it.running.observability;
  for (let look = 0; look < 8; look += 1) {
    it.clock.moveTo(it.clock.steady() + 15_000);
    await alerts.look();
  }
});
afterEach(() => it.close());

test("incidents are listed and read with a token and by an operator", async () => {
  const token = await it.token(["read"]);
  const list = await it.ask("GET /incidents?scope=shop&since=1h", { token });
  const [incident] = list.data.incidents as { id: string; name: string; state: string }[];
  expect(incident).toMatchObject({ name: "web", state: "open" });
  const one = await it.manage(`GET /incidents/${incident?.id}`);
  expect(one.data.incident).toMatchObject({ id: incident?.id });
  expect((await it.manage("GET /budgets")).data.budgets).toMatchObject([{ scope: "shop", name: "web" }]);
});

test("a token that is limited to other apps finds none of it", async () => {
  const all = await it.manage("GET /incidents");
  const [incident] = all.data.incidents as { id: string }[];
  const token = await it.token(["read", "actions"], { apps: ["blog"] });
  expect((await it.ask("GET /incidents", { token })).data.incidents).toEqual([]);
  expect((await it.ask("GET /budgets", { token })).data.budgets).toEqual([]);
  for (const path of [`/incidents/${incident?.id}`, "/apps/shop/web/why", "/budgets/shop/web"]) {
    expect((await it.ask(`GET ${path}`, { token })).status).toBe(404);
  }
});

test("one timeline of an app", async () => {
  const { status, data } = await it.manage("GET /apps/shop/web/why?minutes=60");
  expect(status).toBe(200);
  expect(data).toMatchObject({ scope: "shop", name: "web", next: expect.any(Array), entries: expect.any(Array) });
});

test("an app that there is not, and a kind: the refusal of the platform on both planes", async () => {
  await it.close();
  it = planeWorld({
    controller: {
      why: ({ kind, name }) => {
        if (kind !== undefined) throw new Failure("invalid", `unknown kind "${kind}"`, { reason: "UnknownKind" });
        throw new Failure("not_found", `deployment/shop/${name} not found`);
      },
    },
  });
  const token = await it.token(["read"]);
  for (const ask of [it.manage, (request: string) => it.ask(request, { token })]) {
    expect(await ask("GET /apps/shop/none/why")).toMatchObject({
      status: 404,
      error: "deployment/shop/none not found",
    });
    expect(await ask("GET /apps/shop/web/why?kind=x")).toMatchObject({ status: 400, error: 'unknown kind "x"' });
  }
});

test.each([
  ["GET /incidents?since=long", undefined, 400, "since"],
  ["GET /incidents/none", undefined, 404, 'no incident "none"'],
  ["GET /apps/shop/web/why?at=noon", undefined, 400, "at:"],
  ["GET /apps/shop/web/why?minutes=9999", undefined, 400, "minutes"],
  ["GET /budgets?month=June", undefined, 400, "month"],
  ["GET /budgets/a/b", undefined, 404, 'no app "a/b"'],
  ["PUT /budgets/shop/web", { target_percent: 101 }, 400, "target_percent: must be at most 100, got 101"],
  ["PUT /budgets/shop/web", {}, 400, "target_percent"],
])("%s %j is %i", async (request, body, status, error) => {
  const answer = await it.manage(request, body);
  expect([answer.status, answer.error]).toEqual([status, expect.stringContaining(error)]);
});
