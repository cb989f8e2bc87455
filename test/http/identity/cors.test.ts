import { afterEach, beforeEach, expect, test } from "bun:test";
import { identityEndpoints } from "../../../src/identity/api/endpoints.ts";
import { type IdentityWorld, identityWorld, type Tenant, withPublishable, withSecret } from "../../support/identity.ts";

let it: IdentityWorld;
let shop: Tenant;

beforeEach(async () => {
  it = identityWorld();
  shop = await it.tenant(
    {
      redirect_uris: ["https://shop.test/callback", "http://127.0.0.1/callback"],
      publishable_key_headers: ["X-Brand-Publishable-Key"],
    },
    "id.shop.test",
  );
});

afterEach(() => it.close());

/** Rows 8 and 18 to 21. */
const open = [
  "GET /api/v1/instances/search",
  "GET /api/v1/session_config",
  "POST /api/v1/sessions/exchange",
  "POST /api/v1/sessions/refresh",
  "POST /api/v1/sessions/revoke",
];
const allowed = ({ headers }: { headers: Headers }) => headers.get("access-control-allow-origin");

const onHost = (path: string) => `http://id.shop.test${path}`;

async function preflight(url: string, headers: Record<string, string>): Promise<Response> {
  return it.fetch(new Request(url, { method: "OPTIONS", headers }));
}

test.each(open)("%s may be called from pages of the instance's apps", async (request) => {
  const [method = "", path = ""] = request.split(" ");
  for (const origin of ["https://shop.test", "http://127.0.0.1:5173"]) {
    const asked = { Origin: origin, "Access-Control-Request-Method": method };
    for (const url of [onHost(path), `http://localhost/i/${shop.id}${path}`]) {
      const answer = await preflight(url, asked);
      expect([answer.status, allowed(answer)]).toEqual([204, origin]);
      expect(answer.headers.get("access-control-allow-methods")).toBe(method);
      expect(answer.headers.get("access-control-allow-headers")).toBe(
        "content-type, x-service-publishable-key, x-brand-publishable-key",
      );
    }
    const answer = await it.ask(request, { headers: { ...withPublishable(shop), Origin: origin }, body: {} });
    expect([answer.status, allowed(answer)]).toEqual([path.endsWith("session_config") ? 200 : 400, origin]);
    expect(answer.headers.get("vary")).toContain("Origin");
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  }
});

test.each(open)("%s stays closed to every other page", async (request) => {
  const path = request.split(" ")[1] ?? "";
  const origins = [
    "https://evil.test",
    "https://shop.test.evil.test",
    "http://shop.test",
    "https://shop.test:444",
    "null",
    "https://shop.test/",
    "http://localhost:5173",
    "http://127.0.0.2",
  ];
  for (const origin of origins) {
    const asked = await preflight(onHost(path), { Origin: origin });
    expect([origin, asked.status, allowed(asked)]).toEqual([origin, 204, null]);
    const answer = await it.ask(request, { headers: { ...withPublishable(shop), Origin: origin }, body: {} });
    expect([origin, allowed(answer)]).toEqual([origin, null]);
  }
});

test.each(open)("%s on the host of all instances tells nobody whose apps are there", async (request) => {
  const [method = "", path = ""] = request.split(" ");
  const answers = await Promise.all(
    ["https://shop.test", "https://evil.test", "null"].map(async (origin) => {
      const headers = { Origin: origin, "Access-Control-Request-Headers": "X-Other-Key, content-type,\u00a7" };
      const asked = await preflight(`http://localhost${path}`, { ...headers, "Access-Control-Request-Method": method });
      const refused = await it.ask(request, { headers: { Origin: origin }, body: {} });
      expect(refused.status).toBe(401);
      return [Object.fromEntries(asked.headers), allowed(refused)];
    }),
  );
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]).toMatchObject([
    {
      "access-control-allow-origin": "*",
      "access-control-allow-headers": "content-type, x-service-publishable-key, x-other-key",
    },
    "*",
  ]);
  expect(JSON.stringify(answers)).not.toContain("x-brand");
});

test("a page of one instance's app cannot read another's answers", async () => {
  const other = await it.tenant({ redirect_uris: ["https://other.test/"] });
  const headers = { ...withPublishable(other), Origin: "https://shop.test" };
  expect(allowed(await it.ask("POST /api/v1/sessions/refresh", { headers, body: {} }))).toBeNull();
});

test("what a secret key opens is for no page", async () => {
  for (const { method, path } of identityEndpoints) {
    const target = path.replace(":id", "x");
    const headers = { ...withSecret(shop), Origin: "https://shop.test" };
    const answer = await it.ask(`${method} ${target}`, { headers });
    if (answer.status !== 401) expect([path, allowed(answer)]).toEqual([path, null]);
    if (open.includes(`${method} ${path}`)) continue;
    expect([path, allowed(answer)]).toEqual([path, null]);
    expect([path, allowed(await it.ask(`OPTIONS ${target}`, { headers }))]).toEqual([path, null]);
  }
});
