import { describe, expect, test } from "bun:test";
import { identityEndpoints } from "../../src/identity/api/endpoints.ts";
import { createApiText } from "../support/api-text.ts";
import { apiText, apiTextPath, openapiDocuments } from "../support/write-openapi.ts";

const documents = await openapiDocuments();

test("test/golden/api.txt is current (bun run openapi --write)", async () => {
  expect((await apiText()).split("\n")).toEqual((await Bun.file(apiTextPath).text()).split("\n"));
});

describe("the text of an API", () => {
  const answer = (properties: object) => ({
    content: { "application/json": { schema: { type: "object", properties, required: ["status"] } } },
  });
  const text = (properties: object, parameters: object[] = []) =>
    createApiText().endpoints({
      paths: {
        "/x": {
          get: { operationId: "getX", parameters, responses: { "200": answer(properties), default: { $ref: "#/e" } } },
        },
      },
    });

  test("shows each field with its limits, and what may be left out", () => {
    const lines = text({ status: { const: "ok" }, size: { type: "integer", minimum: 1, description: "left out" } });
    expect(lines).toEqual(["GET /x · getX · errors default", '  200: {status: "ok", size?: integer minimum 1}']);
  });

  test("is another one after each change of a document", () => {
    const plain = text({ status: { const: "ok" }, size: { type: "integer" } });
    const others = [
      text({ status: { const: "ok" }, size: { type: "integer", maximum: 5 } }),
      text({ status: { const: "ok" }, size: { type: "number" } }),
      text({ status: { const: "ok" }, sizes: { type: "integer" } }),
      text({ status: { const: "ok" }, size: { enum: [1, 2] } }),
      text({ status: { const: "ok" }, size: { type: "array", items: { type: "integer" } } }),
      text({ status: { const: "ok" }, size: { type: "integer" } }, [
        { in: "query", name: "q", schema: { type: "string" } },
      ]),
    ];
    for (const other of others) expect(other).not.toEqual(plain);
  });

  test("names the place of a long shape that stood before, and shows one that differs in a limit", () => {
    const fields = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`a_long_name_${at}`, { type: "string" }]));
    const long = (limit: object) => ({ type: "object", properties: { ...fields, last: { type: "string", ...limit } } });
    const lines = text({ one: long({}), two: long({}), three: long({ maxLength: 3 }) });
    expect(lines).toContain("    two?: as GET /x 200.one");
    expect(lines).toContain("    three?: object");
    expect(lines).toContain("      last?: string maxLength 3");
  });
});

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
