import { expect, test } from "bun:test";
import { orchestrationEndpoints } from "../../../../src/orchestration/api/endpoints.ts";
import { orchestrationDocument } from "../../../../src/orchestration/http/openapi.ts";

type Json = { [key: string]: Json } & { name?: string; in?: string; required?: unknown; operationId?: string };

const document: Json = JSON.parse(JSON.stringify(orchestrationDocument({ title: "t", version: "1" })));

function operations(): { path: string; method: string; operation: Json }[] {
  return Object.entries<Json>(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

test("describes every endpoint once, under an id of its own", () => {
  expect(operations()).toHaveLength(orchestrationEndpoints.length);
  const ids = operations().map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toContain("getPodsByNameReady");
});

test("every parameter of a path is declared, and query parameters as the endpoint has them", () => {
  for (const { path, method, operation } of operations()) {
    const inPath = parameters(operation, "path");
    expect(inPath).toEqual([...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name));
    const endpoint = orchestrationEndpoints.find(
      (it) => it.method.toLowerCase() === method && it.path.replaceAll(/:([^/]+)/g, "{$1}") === path,
    );
    expect(parameters(operation, "query")).toEqual(Object.keys(endpoint?.query?.properties ?? {}));
    expect("requestBody" in operation).toBe(endpoint?.body !== undefined);
  }
});

test("answers are in the envelope, errors too, and further statuses carry the same body", () => {
  const ready = document.paths?.["/pods/{name}/ready"]?.get?.responses as Json;
  const schemaOf = (status: string) => ready[status]?.content?.["application/json"]?.schema;
  expect(schemaOf("200")?.required).toEqual(["status", "data"]);
  expect(schemaOf("503")).toEqual(schemaOf("200") as Json);
  expect(ready["404"]).toEqual({ $ref: "#/components/responses/Error" } as unknown as Json);
  const health = document.paths?.["/health"]?.get?.responses?.["200"]?.content?.["application/json"]?.schema;
  expect(Object.keys(health?.properties ?? {})).toEqual(["status", "version"]);
  expect(Object.keys(document.paths?.["/restart"]?.post?.responses ?? {})).toContain("202");
  expect(Object.keys(document.paths?.["/apply"]?.post?.responses ?? {})).toContain("413");
});

test("every reference leads somewhere", () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = ""]) => path);
  expect(references.length).toBeGreaterThan(0);
  for (const reference of references) {
    expect(reference.split("/").reduce<Json | undefined>((at, key) => at?.[key], document)).toBeDefined();
  }
});

function parameters(operation: Json, place: string): (string | undefined)[] {
  const all = (operation.parameters ?? []) as unknown as Json[];
  return all.filter((it) => it.in === place).map(({ name }) => name);
}
