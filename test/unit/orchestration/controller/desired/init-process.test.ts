import { expect, test } from "bun:test";
import { naming } from "../../../../../src/orchestration/core/naming.ts";
import { initMissing, withInit } from "../../../../../src/orchestration/controller/desired/init-process.ts";
import { containerSpec } from "../../../../support/container-spec.ts";
import { createMemoryRuntime } from "../../../../support/memory-runtime.ts";

const names = naming();
const silent = { initUnlessOwn: true };

function engineWith(image: { entrypoint?: string[]; command?: string[] }, { hasInit = true } = {}) {
  const runtime = createMemoryRuntime({ names });
  runtime.addImage("app:1", image);
  const engine = runtime;
  return { engine: { ...engine, info: async () => ({ ...(await engine.info()), hasInit }) } };
}

const spec = containerSpec({ image: "app:1", command: undefined });

test("a container whose spec is silent gets an init, unless its image starts one", async () => {
  const plain = engineWith({ entrypoint: ["/docker-entrypoint.sh"], command: ["serve"] });
  expect(await withInit(plain, spec, silent)).toEqual({ spec: { ...spec, options: { init: true } } });
  expect(await withInit(plain, spec, { initUnlessOwn: false })).toEqual({ spec });
  expect(await withInit(engineWith({ entrypoint: ["/init"] }), spec, silent)).toEqual({ spec });
  expect(await withInit(engineWith({ command: ["tini", "x"] }), spec, silent)).toEqual({ spec });
});

test("an entrypoint or command of the spec counts instead of the image's", async () => {
  const s6 = engineWith({ entrypoint: ["/init"], command: ["tini"] });
  const own = containerSpec({ image: "app:1", command: undefined, options: { entrypoint: ["serve"] } });
  expect((await withInit(s6, own, silent)).spec.options.init).toBe(true);
  const started = containerSpec({ image: "app:1", command: ["/init"] });
  expect((await withInit(engineWith({ command: ["serve"] }), started, silent)).spec).toEqual(started);
});

test("in the machine's process namespace process 1 is the machine's", async () => {
  const own = containerSpec({ image: "app:1", options: { pidMode: "host" } });
  expect(await withInit(engineWith({}), own, silent)).toEqual({ spec: own });
});

test("an engine without the program starts the container all the same, and it says so", async () => {
  expect(await withInit(engineWith({}, { hasInit: false }), spec, silent)).toEqual({ spec, missing: initMissing });
});
