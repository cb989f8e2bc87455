import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "../../src/config/config.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { createOrchestrationApp } from "../../src/orchestration/http/app.ts";
import { type Front, startFront } from "../../src/base/http/front/front.ts";
import type { AppHandler } from "../../src/base/http/front/answer.ts";
import { createLog } from "../../src/base/words/log.ts";
import { addressOf } from "../support/raw-client.ts";
import { fixedAnswers } from "../support/recording-controller.ts";
import { admissionRow } from "./admission.ts";
import type { LoadOrder } from "./load.ts";
import { startLoader } from "./loader.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const rounds = 5;
const roundMs = 1_000;
const path = "/pods/s-web.ab1cd/ready";

/** `GET /pods/{name}/ready` through front and app, against the same front with a handler that does nothing. */
export async function run(): Promise<BenchRow[]> {
  const log = createLog(() => {}, "info");
  const app = createOrchestrationApp({ controller: fixedAnswers, version: "1", names: naming(), log, limits });
  const whole = await measured(app.fetch);
  const bare = await measured(bareHandler);
  mustBe("the answer of the bare handler", await bare.answer(), await whole.answer());
  const figures: { app: number; bare: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    figures.push({ app: await whole.perSecond(), bare: await bare.perSecond() });
  }
  await Promise.all([whole.stop(), bare.stop()]);
  return [
    {
      name: "GET /pods/{name}/ready",
      value: Math.round(median(figures.map((figure) => figure.app))),
      unit: "requests/s",
      baseline: Math.round(median(figures.map((figure) => figure.bare))),
      ratio: median(figures.map((figure) => figure.app / figure.bare)),
      wanted: ">= 0.6",
    },
    await admissionRow(),
  ];
}

const bareBody =
  '{"status":"ok","data":{"readiness":{"container_name":"s-web.ab1cd","ready":true,"startup_passed":true}}}\n';
const bareHandler: AppHandler = () => new Response(bareBody, { headers: { "Content-Type": "application/json" } });

interface Measured {
  perSecond(): Promise<number>;
  /** Status and body. */
  answer(): Promise<string>;
  stop(): Promise<void>;
}

async function measured(app: AppHandler): Promise<Measured> {
  const log = createLog(() => {}, "error");
  const folder = mkdtempSync(join(tmpdir(), "front-bench-"));
  const front = await startFront({
    tcp: { hostname: "127.0.0.1", port: 0 },
    app,
    limits,
    log,
  });
  const loader = startLoader();
  const order = orderFor(front);
  return {
    perSecond: () => loader.perSecond(order),
    async answer() {
      const response = await fetch(`http://${order.hostname}:${order.port}${path}`);
      return `${response.status} ${await response.text()}`;
    },
    async stop() {
      loader.stop();
      await front.stop(0);
      rmSync(folder, { recursive: true });
    },
  };
}

function orderFor(front: Front): LoadOrder {
  const address = addressOf(front.addresses[0]);
  if ("unix" in address) throw new Error("the bench needs TCP");
  return { ...address, path, connections: 32, durationMs: roundMs };
}

function median(figures: number[]): number {
  const sorted = figures.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

if (import.meta.main) console.log(JSON.stringify(await run(), null, 2));
