import { expect, test } from "bun:test";
import { planeEndpoints } from "../../../../src/observability/api/endpoints.ts";
import { planePath } from "../../../../src/observability/api/plane-endpoint.ts";
import { auditText } from "../../../../src/ui/text/agents.ts";

const row = { id: "1", at: "", actor: "pat:a", outcome: "ok", scope: "shop", name: "web" };

test("the trail reads as sentences", () => {
  const text = (action: string, params?: Record<string, string>) => auditText({ ...row, action, params });
  expect(text("PATCH /api/pat/v1/config/:scope/:name", { keys: "STRIPE_KEY" })).toBe("changed STRIPE_KEY of shop/web");
  expect(text("config.reveal", { keys: "A,B,C,D" })).toBe("looked at A, B, C and 1 more of shop/web");
  expect(text("POST /api/pat/v1/apps/:scope/:name/restart")).toBe("told shop/web to restart");
  expect(text("POST /api/pat/v1/apps/:scope/:name/scale", { replicas: "3" })).toBe("scaled shop/web to 3");
  expect(text("POST /api/pat/v1/apply", { dry_run: "true" })).toBe("applied a manifest, as a plan alone");
});

test("whatever a token can change has a sentence", () => {
  const changes = planeEndpoints.filter(({ method }) => method !== "GET");
  const bare = changes.map((endpoint) => `${endpoint.method} ${planePath(endpoint)}`);
  expect(bare.filter((action) => auditText({ ...row, action }) === action)).toEqual([]);
});
