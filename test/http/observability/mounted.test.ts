import { afterAll, beforeAll, expect, test } from "bun:test";
import { operatorEndpoints } from "../../../src/observability/api/operator-endpoints.ts";
import { planeEndpoints } from "../../../src/observability/api/endpoints.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

let it: PlaneWorld;

beforeAll(() => {
  it = planeWorld();
});

afterAll(() => it.close());

test("every endpoint of the operator is there on the orchestration plane", async () => {
  for (const { method, path } of operatorEndpoints) {
    const answer = await it.manage(`${method} ${path.replaceAll(/:[a-z]+/g, "a")}`, method === "GET" ? undefined : {});
    const isThere = answer.status !== 405 && !answer.error.includes("does not exist, GET /openapi.json");
    expect([method, path, isThere]).toEqual([method, path, true]);
  }
});

test("the list of the plane's endpoints is what is mounted", () => {
  const named = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
  expect(it.app.endpoints.map(named).toSorted()).toEqual(planeEndpoints.map(named).toSorted());
});
