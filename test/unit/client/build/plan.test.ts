import { expect, test } from "bun:test";
import { join } from "node:path";
import { planBuild } from "../../../../src/client/build/plan.ts";
import { clientLimits } from "../../../../src/config/config.ts";
import { folder } from "../../../support/files.ts";

test("a Dockerfile outside of its context is sent with it", async () => {
  using place = folder({
    "app/main.sh": "echo",
    "deploy/Dockerfile.app": "FROM scratch\n",
    "app/Dockerfile": "FROM other\n",
  });
  const build = { context: "app", dockerfile: "../deploy/Dockerfile.app" };
  const planned = await planBuild({ scope: "s", name: "a", build, directory: place.path }, clientLimits.folder);
  expect(planned.dockerfile).toBe(".berth/Dockerfile");
  expect(planned.folder.entries.map(({ path }) => path)).toContain(".berth/Dockerfile");
  const inside = { context: ".", dockerfile: join("deploy", "Dockerfile.app") };
  const plain = await planBuild({ scope: "s", name: "a", build: inside, directory: place.path }, clientLimits.folder);
  expect(plain.dockerfile).toBe("deploy/Dockerfile.app");
});
