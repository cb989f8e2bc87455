import { naming } from "../../src/core/naming.ts";
import { createMemoryRuntime } from "../../src/runtime/memory.ts";
import { runtimeContract } from "./runtime.ts";

runtimeContract("memory", async () => {
  const names = naming("t");
  const installationId = "test";
  const image = "berth-fixture:1";
  const runtime = createMemoryRuntime({ names, installationId });
  runtime.addImage(image);
  const cleanUp = async () => {
    for (const { id } of await runtime.list()) await runtime.remove(id);
    for (const { name } of await runtime.listVolumes({})) await runtime.removeVolume(name);
    for (const text of ["n1", "n2"]) await runtime.removeNetwork(`t-${text}`);
  };
  return { runtime, names, installationId, image, unique: (text) => `t-${text}`, cleanUp };
});
