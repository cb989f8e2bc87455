import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Controller } from "../../../src/orchestration/controller/controller.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

const image = { id: "sha256:1", ref: "web:1", bytes: 10 };
const controller: Partial<Controller> = {
  disk: async () => ({ measuring: false, stores: [], volumes: [], measured_at: "2026-01-31T13:05:00.000Z" }),
  planPrune: async () => ({ images: [image], build_cache_bytes: 5, bytes: 15, leftovers: [] }),
  prune: async () => ({ images: [image], build_cache_bytes: 5, bytes: 15 }),
};

let it: PlaneWorld;
beforeEach(() => {
  it = planeWorld({ controller });
});
afterEach(() => it.close());

test("the disk comes with each file system, and says honestly where history is too short", async () => {
  const { status, data } = await it.ask("GET /disk", { token: await it.token(["host:read"]) });
  expect([status, data.measured_at]).toEqual([200, "2026-01-31T13:05:00.000Z"]);
  const mounts = data.mounts as { mount: string; forecast: string }[];
  expect(mounts[0]).toMatchObject({ mount: "/", forecast: "history" });
});

test("the server tells its version, its engine and how long it runs", async () => {
  const { data } = await it.ask("GET /server", { token: await it.token(["host:read"]) });
  expect(data).toMatchObject({ version: "1", engine: { up: true }, streams: 0 });
  expect(data.uptime_seconds).toBeNumber();
});

test("a prune is shown to whom sees the host, is done by an admin, and is in the audit trail", async () => {
  const reader = await it.token(["host:read"]);
  expect((await it.ask("GET /prune", { token: reader })).data).toMatchObject({ bytes: 15, images: [image] });
  expect((await it.ask("POST /prune", { token: reader })).status).toBe(403);
  const admin = await it.token(["admin"]);
  expect((await it.ask("POST /prune", { token: admin })).data).toMatchObject({ bytes: 15 });
  const call = it.calls.find(({ method }) => method === "prune");
  expect(call?.args).toEqual([{ actor: `pat:${admin.slice(4, 10)}` }]);
  const { data } = await it.ask("GET /audit", { token: admin });
  expect(JSON.stringify(data)).toContain("POST /api/pat/v1/prune");
});

test("a token that is limited to apps sees nothing of the host", async () => {
  const token = await it.olderToken(["host:read", "admin"], ["shop"]);
  for (const request of ["GET /disk", "GET /prune", "POST /prune", "GET /server"])
    expect([request, (await it.ask(request, { token })).status]).toEqual([request, 403]);
});
