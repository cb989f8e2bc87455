import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Release } from "../../src/orchestration/api/releases.ts";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(120_000);

let it: Rig;
let port: number;

/** Every version answers `/` and passes its probe; what `/cgi-bin/order` says is up to the version. */
const order = (status: string) => `printf '#!/bin/sh\\nprintf "Status: ${status}\\\\r\\\\n\\\\r\\\\norder\\\\n"\\n'`;

function app(version: string, status: string): string {
  const setUp = `mkdir -p /www/cgi-bin && echo ${version} > /www/index.html && ${order(status)} > /www/cgi-bin/order`;
  const spec = {
    image: "berth-fixture:1",
    replicas: 2,
    command: ["sh", "-c", `${setUp} && chmod +x /www/cgi-bin/order && exec httpd -f -p 8080 -h /www`],
    ports: ["8080"],
    probes: { readiness: { http_get: { path: "/", port: 8080 }, period: "500ms" } },
    stop_grace: "1s",
    rollout: { guard: { errors: "10%", over: "6s", min_requests: 10 } },
  };
  return JSON.stringify({ kind: "deployment", scope: "web", name: "guarded", spec });
}

const ingress = JSON.stringify({ kind: "ingress", scope: "web", name: "guarded", spec: { host: "guarded.test" } });

const ask = (path: string) =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { host: "guarded.test" }, keepalive: false });

/** Visitors who look at the page and order, until told to stop. */
function visitors(lanes = 2) {
  let isOver = false;
  const pages = { asked: 0, failed: 0 };
  const orders = { asked: 0, failed: 0 };
  const visit = async (path: string, count: typeof pages) => {
    const isFine = await ask(path).then(
      async (answer) => (await answer.text()) !== "" && answer.status === 200,
      () => false,
    );
    count.asked += 1;
    if (!isFine) count.failed += 1;
  };
  const lane = async () => {
    while (!isOver) {
      await visit("/", pages);
      await visit("/cgi-bin/order", orders);
      await Bun.sleep(20);
    }
  };
  const all = Array.from({ length: lanes }, lane);
  return {
    async end() {
      isOver = true;
      await Promise.all(all);
      return { pages, orders };
    },
  };
}

const apply = (...manifests: string[]) => it.cli(["apply", "-y", "-f", "-"], { stdin: manifests.join("\n---\n") });

async function releases(): Promise<Release[]> {
  const { body } = await it.call("GET", "/releases?scope=web&name=guarded");
  return (body.data as unknown as { releases: Release[] }).releases;
}

beforeAll(async () => {
  port = await freePort();
  it = await rig({ flags: ["--ingress-http-addr", `127.0.0.1:${port}`, "--ingress-https-addr", ""] });
  const { exitCode, stderr } = await apply(app("one", "200 OK"), ingress);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  await waitFor("the page", async () => (await ask("/")).status === 200);
});

afterAll(async () => {
  await it?.close();
});

describe("a guarded release under load", () => {
  test("that answers 500 goes back by itself, and the old replicas serve all the time", async () => {
    const old = (await it.pods("web", "guarded")).map(({ name }) => name).sort();
    const load = visitors();
    const { exitCode, stderr } = await apply(app("two", "500 broken"));
    const reason = /GuardTripped: \d+ of \d+ requests failed \([\d.]+ %, allowed 10 %; old replicas 0 %\)/;
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(reason) });
    await it.ready("deployment", "web", "guarded");
    const { pages, orders } = await load.end();
    expect(pages.failed).toBe(0);
    expect(orders.failed).toBeGreaterThan(0);
    expect(orders.failed).toBeLessThan(orders.asked / 2);
    expect((await it.pods("web", "guarded")).map(({ name }) => name).sort()).toEqual(old);
    expect((await releases())[1]).toMatchObject({ status: "failed", reasons: ["GuardTripped"] });
    expect((await it.cli(["why", "web/guarded"])).stdout).toMatch(reason);
    expect(await (await ask("/")).text()).toBe("one\n");
  });

  test("that serves well is good once it was watched, and no request fails", async () => {
    const load = visitors();
    const begun = performance.now();
    const { exitCode, stderr } = await apply(app("three", "200 OK"));
    const tookMs = performance.now() - begun;
    const { pages, orders } = await load.end();
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(tookMs).toBeGreaterThan(12_000);
    expect([pages.failed, orders.failed]).toEqual([0, 0]);
    expect((await releases())[0]).toMatchObject({ status: "succeeded", cause: "apply" });
  });
});
