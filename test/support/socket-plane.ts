import { openGate } from "./open-gate.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "../../src/config/config.ts";
import { createController } from "../../src/orchestration/controller/create.ts";
import type { ControllerParts, RunningController } from "../../src/orchestration/controller/running.ts";
import { type Naming, naming } from "../../src/orchestration/core/naming.ts";
import { createAssets } from "../../src/base/disk/assets.ts";
import { layoutOf } from "../../src/base/disk/layout.ts";
import { createOrchestrationApp } from "../../src/orchestration/http/app.ts";
import { systemClock } from "../../src/base/words/clock.ts";
import { createLog, type LogFields } from "../../src/base/words/log.ts";
import { createMemoryRuntime, type MemoryRuntime } from "./memory-runtime.ts";
import type { ContainerSpec } from "../../src/orchestration/core/workload.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import type { Store } from "../../src/orchestration/store/store.ts";
import { containerSpec } from "./container-spec.ts";
import { startTestFront, type TestFront } from "./front.ts";
import { fixtureImage } from "./manifests.ts";
import { openTestStore, testRoot } from "./store-root.ts";
import { waitFor } from "./wait.ts";
import { deliverAll } from "./webhooks.ts";

/** The whole orchestration plane on real sockets. */
export interface Plane<R extends Engine = MemoryRuntime> {
  front: TestFront;
  runtime: R;
  store: Store;
  controller: RunningController["controller"];
  endpoints: RunningController["endpoints"];
  callbacks: RunningController["callbacks"];
  runCalls: RunningController["runCalls"];
  takeover: ReturnType<typeof createOrchestrationApp>["takeover"];
  /** The plane in process, past the front. */
  behind: ReturnType<typeof createOrchestrationApp>["behind"];
  log: LogFields[];
  /** Makes and starts a container of this installation. */
  pod(name: string, labels?: Record<string, string>, spec?: Partial<ContainerSpec>): Promise<void>;
  close(): Promise<void>;
}

/** Over the memory runtime. */
export function startPlane(overrides: Partial<ControllerParts> = {}): Promise<Plane> {
  return startPlaneOn((names, installationId) => {
    const runtime = createMemoryRuntime({ names, installationId });
    runtime.addImage(fixtureImage);
    return runtime;
  }, overrides);
}

export async function startPlaneOn<R extends Engine>(
  makeRuntime: (names: Naming, installationId: string) => R,
  overrides: Partial<ControllerParts> = {},
): Promise<Plane<R>> {
  const at = testRoot();
  const folder = mkdtempSync(join(tmpdir(), "plane-"));
  const store = openTestStore(at);
  const { names = naming() } = overrides;
  const runtime = makeRuntime(names, store.installationId);
  const lines: LogFields[] = [];
  const log = createLog((line) => lines.push(JSON.parse(line)), "debug");
  const layout = layoutOf(folder);
  const running = createController({
    gate: openGate,
    store,
    engine: runtime,
    assets: createAssets(layout.assets),
    layout,
    names,
    clock: systemClock,
    log,
    limits,
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    fetch: async () => new Response(""),
    download: async () => Buffer.from(""),
    knock: async () => undefined,
    about: { version: "test", dockerHost: "test", startedAt: 0 },
    statsIntervalMs: 0,
    sendWebhook: deliverAll,
    ...overrides,
  });
  const stopping = new AbortController();
  const ended = running.run(stopping.signal);
  const app = createOrchestrationApp({ controller: running.controller, version: "test", names, log, limits });
  const front = await startTestFront({ app: app.fetch, takeover: app.takeover, log });
  await waitFor("the engine to be up", async () => (await running.controller.system()).engine.up);
  return {
    front,
    runtime,
    store,
    controller: running.controller,
    endpoints: running.endpoints,
    callbacks: running.callbacks,
    runCalls: running.runCalls,
    takeover: app.takeover,
    behind: app.behind,
    log: lines,
    async pod(name, labels = {}, spec = {}) {
      await runtime.start(await runtime.create(containerSpec({ name, labels, image: fixtureImage, ...spec })));
    },
    async close() {
      await front.close();
      stopping.abort();
      await ended;
      runtime.close();
      store.close();
      at.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
