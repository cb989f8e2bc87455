import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Spec } from "../../src/orchestration/api/manifest.ts";
import type { Readiness } from "../../src/orchestration/api/pods.ts";
import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(120_000);

let berth: Rig;
beforeAll(async () => {
  berth = await rig();
});
afterAll(() => berth?.close(), 60_000);
afterEach(async () => {
  await berth.call("DELETE", "/scope?scope=probe");
  await waitFor("the containers to go", () => berth.docker(["ps", "-aq", ...own]) === "");
}, 60_000);

const own = ["--filter", "label=placeholder"];
beforeAll(() => {
  own[1] = `label=${berth.prefix}.scope=probe`;
});

/** Serves a folder; a file there is what a probe asks for. */
const serve = "mkdir -p /srv && touch /srv/alive /srv/ready && exec httpd -f -p 8080 -h /srv";
const fast = { period: "500ms", failure_threshold: 2 };
const get = (path: string) => ({ ...fast, http_get: { path, port: 8080 } });

async function apply(spec: Spec): Promise<void> {
  const base = { command: ["sh", "-c", serve], rollout: { progress_deadline: "60s", drain: "1s" } };
  const answer = await berth.apply(deployment("probe", "web", { ...base, ...spec }));
  expect({ status: answer.status, error: answer.body.error }).toMatchObject({ status: 200 });
}

async function pod() {
  const [first] = await berth.pods("probe", "web");
  if (first === undefined) throw new Error("no pod yet");
  return first;
}

async function readiness(): Promise<Readiness & { status: number }> {
  const { status, body } = await berth.call("GET", `/pods/${(await pod()).name}/ready`);
  return { status, ...(body.data as unknown as { readiness: Readiness }).readiness };
}

const until = (what: string, holds: (now: Readiness) => boolean) =>
  waitFor(what, async () => {
    const now = await readiness();
    if (!holds(now)) throw new Error(JSON.stringify(now));
    return now;
  });
const within = async (script: string) => berth.docker(["exec", (await pod()).name, "sh", "-c", script]);
const runFacts = async (format: string) => berth.docker(["inspect", "--format", format, (await pod()).name]);

test("http: the answer decides, and shows", async () => {
  await apply({ probes: { readiness: get("/ready") } });
  await berth.ready("deployment", "probe", "web");
  expect(await readiness()).toMatchObject({ status: 200, ready: true, reason: "200 OK", startup_passed: true });
  await within("rm /srv/ready");
  const reason = "404 Not Found: The requested URL was not found";
  expect(await until("it to be lost", ({ ready }) => !ready)).toMatchObject({ status: 503, reason });
  const { stdout } = await berth.cli(["why", "probe/web"]);
  expect(stdout).toContain("runs and is not ready");
  expect(stdout).toMatch(/probe +readiness: GET :8080\/ready\n +got +404 Not Found: The requested/);
  expect(await berth.tells("deployment probe/web", "readiness probe (GET :8080/ready) fails since")).toContain(reason);
  expect((await berth.cli(["events", "probe/web"])).stdout).toMatch(/probe\.unhealthy .*probe=readiness/);
  await within("touch /srv/ready");
  await until("it to be back", ({ ready }) => ready);
  const { name } = await pod();
  await berth.stop();
  await berth.start();
  // The first question, asked the moment that the port is open.
  expect((await berth.call("GET", `/pods/${name}/ready`)).status).toBe(200);
  await waitFor("the engine to be followed again", async () => (await pod()).ready);
  expect(await runFacts("{{.RestartCount}}")).toBe("0");
});

test("an app that listens a second after its start is ready long before the period of its probe is over", async () => {
  const probes = { readiness: { http_get: { path: "/ready", port: 8080 }, period: "60s" } };
  const started = performance.now();
  await apply({ command: ["sh", "-c", `sleep 1; ${serve}`], probes });
  await berth.ready("deployment", "probe", "web");
  expect(performance.now() - started).toBeLessThan(30_000);
});

test("tcp: a port that listens is ready, one that does not says so", async () => {
  const command = [
    "sh",
    "-c",
    "while :; do if [ -f /tmp/open ]; then nc -l -p 9000 >/dev/null; else sleep 0.1; fi; done",
  ];
  await apply({ command, probes: { readiness: { ...fast, tcp_socket: { port: 9000 } } } });
  await until("a refusal", ({ reason }) => reason === "connection refused");
  await within("touch /tmp/open");
  await until("a connection", ({ ready, reason }) => ready && reason === "connected");
});

test("exec: the exit code decides, and what was said is kept", async () => {
  const command = ["sh", "-c", "[ -f /tmp/warm ] || { echo not warm yet; exit 3; }"];
  await apply({ probes: { readiness: { ...fast, exec: { command } } } });
  await until("what it says", ({ reason }) => reason === "exit code 3: not warm yet");
  await within("touch /tmp/warm");
  await until("it to pass", ({ ready, reason }) => ready && reason === "exit code 0");
});

/** Each run leaves a hundred processes behind, which end at once. */
const orphans = { exec: { command: ["sh", "-c", "i=0; while [ $i -lt 100 ]; do (true &); i=$((i+1)); done"] } };
const zombies = async () => Number(await within("cat /proc/[0-9]*/stat 2>/dev/null | grep -c ') Z '; true"));

test("exec: what a probe leaves behind is collected, unless the manifest wants no init", async () => {
  const probe = { ...orphans, period: "200ms", timeout: "10s" };
  // httpd would have the kernel collect them.
  const app = { command: ["sleep", "86400"], stop_grace: "0s", probes: { liveness: probe } };
  await apply({ ...app, init: false });
  await berth.ready("deployment", "probe", "web");
  expect(await runFacts("{{.HostConfig.Init}} {{.HostConfig.PidsLimit}}")).toBe("false 4096");
  // The check can fail: here nobody collects them.
  await waitFor("processes that nobody collects", async () => (await zombies()) > 100);
  await apply(app);
  await waitFor("a container with an init", async () => (await runFacts("{{.HostConfig.Init}}")) === "true");
  await berth.ready("deployment", "probe", "web");
  // Ids of processes count up: a thousand of them are ten probes.
  await waitFor("ten probes", async () => Number(await within("sh -c 'echo $$'")) > 1_000);
  await waitFor("all but a few to be collected", async () => (await zombies()) <= 5);
});

test("exec: one that hangs has failed at its time-out, and its process is ended", async () => {
  const command = ["sleep", "54321"];
  await apply({ probes: { readiness: { ...fast, timeout: "300ms", exec: { command } } } });
  await until("the time-out", ({ reason }) => reason === "no answer within 300 ms");
  await within("touch /tmp/x");
  await apply({ probes: { readiness: { ...fast, period: "1h", exec: { command: ["true"] } } } });
  await berth.ready("deployment", "probe", "web");
  await waitFor("no process to be left", async () => !(await within("ps")).includes("54321"));
});

test("startup holds readiness and liveness back until it has passed", async () => {
  const startup = { period: "500ms", failure_threshold: 100, http_get: { path: "/started", port: 8080 } };
  const liveness = { ...get("/started"), failure_threshold: 1 };
  await apply({ probes: { startup, liveness, readiness: get("/ready") } });
  await until("it to be asked", ({ reason }) => reason?.startsWith("404 Not Found") === true);
  const started = await runFacts("{{.State.StartedAt}}");
  await Bun.sleep(3_000);
  expect(await readiness()).toMatchObject({ ready: false, startup_passed: false, readiness_phase: "unknown" });
  expect(await runFacts("{{.State.StartedAt}}")).toBe(started);
  await within("touch /srv/started");
  await until("all to pass", ({ ready, startup_passed }) => ready && startup_passed);
  expect(await runFacts("{{.State.StartedAt}}")).toBe(started);
});

test("liveness restarts the same container at each crossing, the next time after a pause", async () => {
  await apply({ probes: { liveness: get("/alive"), readiness: get("/ready") }, stop_grace: "1s" });
  await berth.ready("deployment", "probe", "web");
  const id = await runFacts("{{.Id}}");
  const starts = [await runFacts("{{.State.StartedAt}}")];
  // Each start of the container makes the file anew; whoever serves it takes it away again.
  const restarted = () =>
    waitFor(
      "a restart",
      async () => {
        await within("rm -f /srv/alive");
        const now = await runFacts("{{.State.StartedAt}}");
        return now !== "" && !starts.includes(now) && now;
      },
      40_000,
    );
  starts.push(await restarted());
  starts.push(await restarted());
  const [, first = "", second = ""] = starts;
  expect(Date.parse(second) - Date.parse(first)).toBeGreaterThanOrEqual(9_500);
  expect(await runFacts("{{.Id}}")).toBe(id);
  const { body } = await berth.call("GET", "/events?scope=probe&limit=1000");
  const actions = (body.data as unknown as { events: { action: string }[] }).events.map(({ action }) => action);
  expect(actions.filter((action) => action === "replica.restart").length).toBeGreaterThanOrEqual(2);
  await until("it to be ready again", ({ ready }) => ready);
  const { stdout } = await berth.cli(["why", "probe/web"]);
  expect(stdout).toMatch(/replica \w+ was killed/);
  expect(stdout).toMatch(/why +killed: liveness probe \(GET :8080\/alive\) failed: 404 Not Found/);
  expect((await berth.pods("probe", "web")).map(({ restarts }) => restarts)).toEqual([2]);
});

test("a version that never opens its port fails its release, although liveness restarts it, and the old one serves on", async () => {
  const liveness = { ...get("/alive"), failure_threshold: 1, initial_delay: "1s" };
  const probes = { readiness: get("/ready"), liveness };
  await apply({ probes, stop_grace: "1s" });
  await berth.ready("deployment", "probe", "web");
  const old = await runFacts("{{.Id}}");
  const rollout = { progress_deadline: "8s", drain: "1s" };
  await apply({ probes, rollout, command: ["sleep", "100000"], stop_grace: "1s" });
  const [, release] = await waitFor("the release to end", async () => {
    const { body } = await berth.call("GET", "/releases?scope=probe&name=web");
    const { releases } = body.data as unknown as { releases: { status: string; cause: string }[] };
    return releases.length === 3 && releases;
  });
  expect(release).toMatchObject({ status: "failed" });
  const { body } = await berth.call("GET", "/events?scope=probe&limit=1000");
  const actions = (body.data as unknown as { events: { action: string }[] }).events.map(({ action }) => action);
  expect(actions).toContain("replica.restart");
  await waitFor("the new replica to go", async () => (await berth.pods("probe", "web")).length === 1);
  expect(await runFacts("{{.Id}} {{.State.Status}}")).toBe(`${old} running`);
});

test("after a restart of the container its address is read anew", async () => {
  await apply({ probes: { readiness: get("/ready") }, stop_grace: "1s" });
  await berth.ready("deployment", "probe", "web");
  const network = `{{(index .NetworkSettings.Networks "${berth.prefix}0").IPAddress}}`;
  const { name } = await pod();
  const before = await runFacts(network);
  // Frozen, so that it stays down until another container has taken the address that it had.
  expect((await berth.call("POST", `/pods/${name}/stop`)).status).toBe(200);
  const other = ["--network", `${berth.prefix}0`, "--label", `createdby=${berth.prefix}`, "berth-fixture:1"];
  berth.docker(["run", "-d", ...other, "sleep", "1000"]);
  berth.docker(["start", name]);
  await waitFor("another address", async () => {
    const now = await runFacts(network);
    return now !== "" && now !== before;
  });
  await until("it to be ready at the new one", ({ ready }) => ready);
});
