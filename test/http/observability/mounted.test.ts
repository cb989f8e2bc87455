import { afterAll, beforeAll, expect, test } from "bun:test";
import { operatorEndpoints } from "../../../src/observability/api/operator-endpoints.ts";
import { planeEndpoints } from "../../../src/observability/api/endpoints.ts";
import type { Endpoint } from "../../../src/base/wire/endpoint.ts";
import { orchestrationEndpoints } from "../../../src/orchestration/api/endpoints.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

let it: PlaneWorld;
const named = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;

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
  expect(it.app.endpoints.map(named).toSorted()).toEqual(planeEndpoints.map(named).toSorted());
});

test("an endpoint of operators that says a scope is in the list of tokens, as it is or in another form", () => {
  const listed = planeEndpoints.map((one) => one.of ?? one);
  const scoped: Endpoint[] = orchestrationEndpoints.filter(({ scope }) => scope !== undefined);
  expect(scoped.filter((one) => !listed.some((other) => other === one)).map(named)).toEqual([]);
});

test("an endpoint that tokens alone have is in the table of decision 33, with the reason", async () => {
  const page = new URL("../../../docs/decisions/0033-one-list-of-endpoints.md", import.meta.url);
  const rows = (await Bun.file(page).text()).split("\n").filter((line) => line.startsWith("| `"));
  const explained = rows.flatMap((row) =>
    [...(row.split(" | ")[0] ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );
  const operators = new Set<Endpoint>(orchestrationEndpoints);
  const apart = planeEndpoints.filter((one) => !operators.has(one.of ?? one));
  expect(explained.toSorted()).toEqual(apart.map(named).toSorted());
});
