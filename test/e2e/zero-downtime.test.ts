import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Manifest, Spec } from "../../src/orchestration/api/manifest.ts";
import type { Release } from "../../src/orchestration/api/releases.ts";
import { deployment } from "../support/manifests.ts";
import { readyClient } from "../support/ready-client.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

const rounds = Number(process.env.BERTH_TEST_ROUNDS ?? 1);
/** Each is a connection, and a process of the web server. */
const perSecond = process.env.BERTH_TEST_ROUNDS === undefined ? 50 : 500;
const perRoundMs = 240_000;
const readiness = { http_get: { path: "/", port: 8080 }, period: "500ms", failure_threshold: 2 };
/** A request on a busy machine may take longer than one would think: it is given the time that drains have by default. */
const rollout = { progress_deadline: "60s" };
/** A little web server that says its version and, where it is set, its config. */
const serve = 'mkdir -p /srv && echo "$V $COLOR" > /srv/index.html && exec httpd -f -p 8080 -h /srv';

function app(v: string, spec: Spec = {}): Manifest {
  const base = { command: ["sh", "-c", serve], probes: { readiness }, rollout, stop_grace: "1s" };
  return deployment("steady", "web", { ...base, replicas: 3, env: { V: v }, ...spec });
}

/** Requests all the while, through everything that can happen to a deployment; not one of them may fail. */
describe(`${perSecond} requests a second`, () => {
  let berth: Rig;
  beforeAll(async () => {
    berth = await rig();
    await berth.apply(app("0"));
    await berth.ready("deployment", "steady", "web");
  }, 120_000);
  afterAll(() => berth?.close(), 60_000);

  const ready = () => berth.ready("deployment", "steady", "web", 90_000);
  const apply = async (manifest: Manifest) => {
    expect((await berth.apply(manifest)).status).toBe(200);
    await ready();
  };
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await berth.call(method, path, body);
    expect({ path, status: answer.status, error: answer.body.error }).toMatchObject({ path, status: 200 });
    await ready();
  };
  const releases = async () => {
    const { body } = await berth.call("GET", "/releases?scope=steady&name=web");
    return (body.data as unknown as { releases: Release[] }).releases;
  };

  async function underLoad(work: () => Promise<void>): Promise<void> {
    const client = await readyClient(berth, { scope: "steady", name: "web", port: 8080, perSecond });
    try {
      await work();
      // What still listens to a pod that has just gone would fail now.
      await Bun.sleep(500);
    } finally {
      await client.stop();
    }
    expect(client.failed).toEqual([]);
    expect(client.answered).toBeGreaterThan(perSecond / 5);
  }

  /** Applies what cannot work, and waits until it is rolled back. */
  async function fails(manifest: Manifest, reason: string): Promise<void> {
    expect((await berth.apply(manifest)).status).toBe(200);
    const newest = (await releases())[0]?.id;
    const failed = await waitFor(
      `release ${newest} to fail`,
      async () => (await releases()).find(({ id, status }) => id === newest && status === "failed"),
      90_000,
    );
    expect(failed.error).toStartWith(reason);
    await ready();
    expect((await releases())[0]).toMatchObject({ cause: "auto_rollback", status: "succeeded" });
  }

  test("would show: a pod that is killed by hand costs some", async () => {
    const client = await readyClient(berth, { scope: "steady", name: "web", port: 8080, perSecond });
    const deadline = performance.now() + 30_000;
    while (client.failed.length === 0 && performance.now() < deadline) {
      const [pod = ""] = client.inUse();
      // Not waited for: requests go on while it dies. It may be healed before one meets it, hence again and again.
      const kill = Bun.spawn(["docker", "-H", berth.dockerHost, "kill", pod], { stdout: "ignore", stderr: "ignore" });
      await Promise.all([kill.exited, Bun.sleep(1_000)]);
    }
    await client.stop();
    expect(client.failed).not.toEqual([]);
    await ready();
  });

  async function killedWhileRolling(manifest: Manifest): Promise<void> {
    expect((await berth.apply(manifest)).status).toBe(200);
    await Bun.sleep(1_000 + Math.random() * 3_000);
    await berth.stop("SIGKILL");
    await berth.start();
    await ready();
  }

  const root = "scope=steady&name=web";
  const things: [string, (round: number) => Promise<void>][] = [
    ["a deploy", (round) => apply(app(`${round}`))],
    ["a restart", () => ask("POST", `/restart?kind=deployment&${root}`)],
    ["a config change", (round) => ask("POST", `/config?${root}`, { COLOR: `c${round}` })],
    ["a rollback", () => ask("POST", `/rollback?${root}`)],
    ["a scale up", (round) => apply(app(`${round}`, { replicas: 5 }))],
    ["a scale down", (round) => apply(app(`${round}`, { replicas: 3 }))],
    ["a new server while it rolls", (round) => killedWhileRolling(app(`${round}b`))],
    [
      "a release that never gets ready",
      (round) => {
        const elsewhere = { readiness: { ...readiness, http_get: { path: "/missing", port: 8080 } } };
        const rushed = { ...rollout, progress_deadline: "6s" };
        return fails(app(`bad${round}`, { probes: elsewhere, rollout: rushed }), "ProgressDeadline");
      },
    ],
    [
      "a release that crash-loops",
      (round) => {
        const rushed = { ...rollout, progress_deadline: "6s" };
        const crashing = { command: ["sh", "-c", "sleep 0.2; exit 3"], rollout: rushed };
        return fails(app(`loop${round}`, crashing), "ProgressDeadline");
      },
    ],
    [
      "a release that cannot be started",
      (round) => fails(app(`none${round}`, { command: ["/no/such/command"] }), "StartFailed"),
    ],
  ];

  for (let round = 1; round <= rounds; round++) {
    for (const [what, work] of things) {
      test(`survive ${what} (${round} of ${rounds})`, () => underLoad(() => work(round)), perRoundMs);
    }
  }
});
