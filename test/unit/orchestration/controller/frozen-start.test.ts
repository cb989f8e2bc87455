import { afterEach, expect, test } from "bun:test";
import { statefulset } from "../../../support/manifests.ts";
import { world, type World } from "../../../support/world.ts";

let it: World;
afterEach(() => it.close());

/** A database whose other pod takes over must not run for a moment more. */
test("a replica that is frozen between its making and its start is not started", async () => {
  const started: string[] = [];
  let made = 0;
  it = await world({
    wrapRuntime: (runtime) => ({
      ...runtime,
      async create(spec) {
        const id = await runtime.create(spec);
        made += 1;
        const key = { kind: "statefulset", scope: "data", name: "main" };
        await it.store.write((tx) => tx.frozen.add(key, "0", 1));
        return id;
      },
      start(id) {
        started.push(id.id);
        return runtime.start(id);
      },
    }),
  });
  await it.apply(statefulset("data", "main"));
  await it.advance(30_000);
  expect([made, started]).toEqual([1, []]);
});
