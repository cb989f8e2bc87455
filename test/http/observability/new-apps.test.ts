import { expect, test } from "bun:test";
import type { Operation } from "../../../src/observability/api/operations.ts";
import type { Controller } from "../../../src/orchestration/controller/controller.ts";
import { appFacts } from "../../support/app-facts.ts";
import { planeWorld } from "../../support/observability.ts";

const manifest = { kind: "deployment", scope: "shop", name: "fresh", spec: { image: "web:1" } };

test("the apply of an app that the plane does not know yet has begun, and is not reported as deleted", async () => {
  const it = planeWorld({
    controller: {
      apply: async () => {
        it.watch.put(appFacts({ scope: "shop", name: "fresh", revision: 1, status: undefined }));
        return { applied: [manifest], pruned: [] };
      },
    } as unknown as Partial<Controller>,
  });
  const token = await it.token(["actions", "read"]);
  const { data } = await it.ask("POST /apply", { token, body: [manifest] });
  const [begun] = data.operations as Operation[];
  expect(begun).toMatchObject({ state: "running", text: "about to begin" });
  const after = (await it.ask(`GET /operations/${begun?.id}`, { token })).data;
  expect(after.state).toBe("running");
  it.close();
});
