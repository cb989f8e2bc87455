import { expect, test } from "bun:test";
import { identityEndpoints } from "../../src/identity/api/endpoints.ts";
import { openapiSnapshots, snapshotPath } from "../support/write-openapi.ts";

const documents = await openapiSnapshots();

test.each(Object.keys(documents))(
  "docs/openapi/%s is current (bun run test/support/write-openapi.ts --write)",
  async (file) => {
    expect(await Bun.file(snapshotPath(file)).json()).toEqual(JSON.parse(JSON.stringify(documents[file])));
  },
);

test("a row of GET /pods is a record, or with detail=true one in detail, whose state is an object", () => {
  const { paths } = documents["orchestration.json"] as { paths: Record<string, { get: object }> };
  const states = JSON.stringify(paths["/pods"]?.get).match(/"state":\{[^}]*?"type":"(string|object)"/g) ?? [];
  expect(states.map((state) => state.includes('"object"'))).toEqual([false, true]);
});

type Documented = Record<string, { responses: Record<string, { content?: object }> }>;

test("what is answered as text is described as text", () => {
  const { paths } = documents["orchestration.json"] as { paths: Record<string, Documented> };
  const answers = paths["/releases/run"]?.post?.responses;
  expect(Object.keys(answers?.["200"]?.content ?? {})).toEqual(["text/plain; charset=utf-8"]);
});

test("each operation that names something can answer 404", () => {
  for (const { paths } of Object.values(documents) as { paths: Record<string, Documented> }[]) {
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, { responses, ...operation }] of Object.entries(operations)) {
        const names = "parameters" in operation || "requestBody" in operation;
        if (names)
          expect([method, path, Object.keys(responses)]).toEqual([method, path, expect.arrayContaining(["404"])]);
      }
    }
  }
});

test.each([
  ["/metrics", ["source", "metric"]],
  ["/query", ["metric"]],
  ["/logs/context", ["app", "at"]],
])("%s cannot be asked without %j", (path, names) => {
  type Operation = { parameters: { name: string; required: boolean }[] };
  const { paths } = documents["orchestration.json"] as { paths: Record<string, { get: Operation }> };
  const required = paths[path]?.get.parameters.filter((parameter) => parameter.required) ?? [];
  expect(required.map(({ name }) => name)).toEqual(names);
});

test("the identity API is described whole, and says which key opens what", () => {
  const { paths, components } = documents["identity.json"] as {
    paths: Record<string, Record<string, { security: Record<string, []>[]; responses: object }>>;
    components: { securitySchemes: object };
  };
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  expect(operations).toHaveLength(identityEndpoints.length);
  const schemes = Object.keys(components.securitySchemes);
  for (const { security } of operations) {
    expect(security.length).toBeGreaterThan(0);
    for (const way of security) expect(schemes).toContain(Object.keys(way)[0] ?? "");
  }
  expect(paths["/api/v1/sessions/exchange"]?.post?.security).toEqual([{ publishable: [] }]);
  expect(paths["/api/v1/tokens/verify"]?.post?.security).toEqual([{ secret: [] }, { bearer: [] }]);
  expect(Object.keys(paths["/api/v1/users/{id}"]?.get?.responses ?? {})).toEqual(
    expect.arrayContaining(["200", "401", "404"]),
  );
});
