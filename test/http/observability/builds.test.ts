import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Build } from "../../../src/orchestration/api/builds.ts";
import type { Controller } from "../../../src/orchestration/controller/controller.ts";
import { waitFor } from "../../support/wait.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

const build = (scope: string, actor: string): Build => ({
  ...{ scope, name: "web", id: "b1", status: "building", context: "c", dockerfile: "Dockerfile" },
  ...{ image: `${scope}-web:b1`, actor, started_at: "2026-01-01T00:00:00.000Z", releases: [], kept: false },
});

async function* oneStep() {
  yield Buffer.from("Step 1/1\n");
}

let follow: ((signal: AbortSignal) => AsyncIterable<Uint8Array>) | undefined;
let it: PlaneWorld;
let tokenId = "";
beforeEach(() => {
  follow = undefined;
  it = planeWorld({
    controller: {
      build: async () => ({ build: { ...build("shop", "ana"), status: "queued" }, reused: false }),
      listBuilds: () => ({ builds: [build("shop", `pat:${tokenId}`), build("back", "ana@laptop")] }),
      followBuild: (_, signal) => (follow ?? oneStep)(signal),
      cancelBuild: async ({ scope }) => ({ build: { ...build(scope, "ana"), status: "canceled" } }),
      retryBuild: async ({ scope }) => ({ build: { ...build(scope, "ana"), status: "queued" } }),
    } as Partial<Controller>,
  });
});
afterEach(() => it.close());

test("builds come with the name of the token that asked for them", async () => {
  const token = await it.token(["read"], { name: "ci" });
  tokenId = token.slice(4, 10);
  const { data } = await it.ask("GET /builds", { token });
  expect((data.builds as { actor_name?: string }[]).map((one) => one.actor_name)).toEqual(["ci", undefined]);
});

test("a token for some apps sees, follows, starts and ends builds of theirs alone", async () => {
  const token = await it.token(["read", "actions"], { apps: ["shop"] });
  const { data } = await it.ask("GET /builds", { token });
  expect((data.builds as Build[]).map(({ scope }) => scope)).toEqual(["shop"]);
  for (const request of ["GET log", "GET output", "POST cancel", "POST retry"]) {
    const [method, word] = request.split(" ");
    const other = await it.ask(`${method} /builds/back/web/b1/${word}`, { token });
    expect([request, other.status, other.error]).toEqual([
      request,
      404,
      expect.stringContaining('no build "b1" of back/web'),
    ]);
  }
  const context = "0".repeat(64);
  const refused = await it.ask("POST /builds", { token, body: { scope: "back", name: "web", context } });
  expect([refused.status, it.calls.some(({ method }) => method === "build")]).toEqual([403, false]);
  const another = await it.token(["actions"], { apps: ["shop"] });
  const begun = await it.ask("POST /builds", { token: another, body: { scope: "shop", name: "web", context } });
  expect(begun.status).toBe(202);
  expect(it.calls.find(({ method }) => method === "build")?.args[1]).toMatchObject({ detached: true });
});

test("the output streams as text, and cancel and retry answer with the build", async () => {
  const token = await it.token(["read", "actions"]);
  const output = await it.ask("GET /builds/shop/web/b1/output", { token });
  expect([output.status, output.text, output.headers.get("content-type")]).toEqual([
    ...[200, "Step 1/1\n", "text/plain; charset=utf-8"],
  ]);
  expect(it.running.observability.streams.count()).toBe(0);
  const ended = await it.ask("POST /builds/shop/web/b1/cancel", { token });
  expect([ended.status, (ended.data.build as Build).status]).toEqual([200, "canceled"]);
  const again = await it.ask("POST /builds/shop/web/b1/retry", { token });
  expect([again.status, (again.data.build as Build).status]).toEqual([202, "queued"]);
});

test("a revoke cuts the output that a token follows, and ends the reading of it", async () => {
  const ended = Promise.withResolvers<boolean>();
  follow = async function* (signal) {
    yield Buffer.from("Step 1/2\n");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    ended.resolve(true);
  };
  const token = await it.token(["read"]);
  const answer = it.ask("GET /builds/shop/web/b1/output", { token });
  const { streams } = it.running.observability;
  await waitFor("the stream", () => streams.count() === 1);
  await it.manage(`DELETE /pats/${token.slice(4, 10)}`);
  expect([await ended.promise, (await answer).text, streams.count()]).toEqual([true, "Step 1/2\n", 0]);
});
