import { createDockerRuntime } from "../../src/runtime/docker/docker.ts";
import { runtimeContract } from "../contract/runtime.ts";
import { fixtureImage, requireDocker, scratch } from "../support/docker.ts";

runtimeContract("docker", async () => {
  const { names, installationId, unique, cleanUp } = scratch();
  const runtime = createDockerRuntime({ host: requireDocker(), installationId, names });
  return { runtime, names, installationId, image: fixtureImage, unique, cleanUp };
});
