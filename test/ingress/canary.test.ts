import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(120_000);

let it: Rig;
let port: number;

function app(version: string, rollout: Record<string, unknown> = {}): string {
  const spec = {
    image: "berth-fixture:1",
    replicas: 2,
    command: ["sh", "-c", `mkdir -p /www && echo ${version} > /www/index.html && exec httpd -f -p 8080 -h /www`],
    ports: ["8080"],
    probes: { readiness: { http_get: { path: "/", port: 8080 }, period: "500ms" } },
    stop_grace: "1s",
    rollout,
  };
  return JSON.stringify({ kind: "deployment", scope: "web", name: "canary", spec });
}

const ingress = JSON.stringify({ kind: "ingress", scope: "web", name: "canary", spec: { host: "canary.test" } });

/** The version that answered; `failed` for anything but a page. */
async function ask(): Promise<string> {
  const init = { headers: { host: "canary.test" }, keepalive: false };
  const answer = await fetch(`http://127.0.0.1:${port}/`, init).catch(() => undefined);
  return answer?.status === 200 ? (await answer.text()).trim() : "failed";
}

/** How many of so many requests each version answered. */
async function answers(count: number): Promise<Record<string, number>> {
  const seen: Record<string, number> = { one: 0, two: 0, failed: 0 };
  const lane = async () => {
    for (let sent = 0; sent < count / 10; sent++) {
      const version = await ask();
      seen[version] = (seen[version] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 10 }, lane));
  return seen;
}

/** Visitors while something is done; answers with the requests that failed. */
async function failedDuring(work: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  let failed = 0;
  const lane = async () => {
    while (!isOver) {
      if ((await ask()) === "failed") failed += 1;
      await Bun.sleep(5);
    }
  };
  const lanes = [lane(), lane()];
  await work();
  isOver = true;
  await Promise.all(lanes);
  return failed;
}

const apply = (...manifests: string[]) => it.cli(["apply", "-y", "-f", "-"], { stdin: manifests.join("\n---\n") });
const podNames = async () => (await it.pods("web", "canary")).map(({ name }) => name).sort();

beforeAll(async () => {
  port = await freePort();
  it = await rig({ flags: ["--ingress-http-addr", `127.0.0.1:${port}`, "--ingress-https-addr", ""] });
  const { exitCode, stderr } = await apply(app("one"), ingress);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  await waitFor("the page", async () => (await ask()) === "one");
});

afterAll(async () => {
  await it?.close();
});

test("a step sends its share to the new replica, through kill -9, until an abort sends all of it back", async () => {
  const old = await podNames();
  const failed = await failedDuring(async () => {
    const { exitCode, stderr } = await apply(app("two", { canary: [{ weight: "20%", pause: "forever" }] }));
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringContaining("waits for you at canary step 1 of 1, 20 % of the requests"),
    });
  });
  expect(failed).toBe(0);
  const { one = 0, two = 0, ...others } = await answers(1_000);
  expect(others).toEqual({ failed: 0 });
  expect(two / (one + two)).toBeWithin(0.15, 0.25);

  await it.stop("SIGKILL");
  await it.start();
  await it.tells("deployment/web/canary", "canary step 1 of 1");
  const again = await answers(200);
  expect((again.two ?? 0) / 200).toBeWithin(0.1, 0.3);

  const failedBack = await failedDuring(async () => {
    const { exitCode, stderr } = await it.cli(["rollout", "abort", "web/canary"]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(await answers(100)).toEqual({ one: 100, two: 0, failed: 0 });
  });
  expect([failedBack, await podNames()]).toEqual([0, old]);
  expect((await it.cli(["releases", "web/canary"])).stdout).toMatch(/failed .*Aborted: by /);
});

test("blue-green moves all requests at once, and back without a new container", async () => {
  const old = await podNames();
  const failed = await failedDuring(async () => {
    const { exitCode, stderr } = await apply(app("two", { canary: ["100%"], keep: "10m" }));
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  });
  expect([failed, await answers(100)]).toEqual([0, { one: 0, two: 100, failed: 0 }]);
  expect(await podNames()).toHaveLength(4);
  const failedBack = await failedDuring(() => it.cli(["rollout", "abort", "web/canary"]));
  expect([failedBack, await answers(100), await podNames()]).toEqual([0, { one: 100, two: 0, failed: 0 }, old]);
});
