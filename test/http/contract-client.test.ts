import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { withContractClient } from "../../src/compat/door.ts";
import { operator, unnamed } from "../../src/access/principal.ts";
import { limits } from "../../src/config/config.ts";
import { contractClientLimits } from "../../src/config/contract-client-limits.ts";
import { MASK } from "../../src/orchestration/core/mask.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { createOrchestrationApp } from "../../src/orchestration/http/app.ts";
import { deployment } from "../support/manifests.ts";
import { silentLog } from "../support/silent-log.ts";
import { type World, world } from "../support/world.ts";

/** Requests as the contract's own client sends them: fields in the order and with the leftovers of its encoder. */
const agent = "berth-cli/0.9.1";

let it: World;
let served: { phase: "ready" | "failing" | "stored"; why?: string };
beforeEach(async () => {
  served = { phase: "ready" };
  it = await world({ ingressServed: () => served });
});
afterEach(() => it.close());

function send(method: string, target: string, body?: unknown, from = agent) {
  return sendBytes(method, target, body === undefined ? undefined : Buffer.from(JSON.stringify(body)), from);
}

async function sendBytes(method: string, target: string, body: Uint8Array<ArrayBuffer> | undefined, from: string) {
  const names = naming();
  const app = createOrchestrationApp({ controller: it.controller, version: "1", names, log: silentLog, limits });
  const fetch = withContractClient(app.fetch, {
    prefix: names.prefix,
    log: silentLog,
    limits: { ...limits, ...contractClientLimits },
  });
  const init = { method, headers: { "User-Agent": from, "Content-Type": "application/json" } };
  const sent = body === undefined ? init : { ...init, body };
  const answer = await fetch(new Request(`http://localhost${target}`, sent));
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, each compared with what is expected.
  const { data, error } = (await answer.json()) as { data?: any; error?: string };
  return { status: answer.status, data, error };
}

/** `deployment "shop" "web" { image, replicas = 1 }` and an ingress with `tls { enabled = false }`. */
const recorded = [
  {
    kind: "deployment",
    scope: "shop",
    name: "web",
    spec: {
      image: "berth-fixture:1",
      build: null,
      command: ["sleep", "100000"],
      env: { PLAIN: "1", EMPTY: "" },
      ports: null,
      networks: null,
      network_mode: "",
      restart: "",
      health_check: "/",
      keep_releases: 5,
      logs: { max_size: "10m", max_files: 3 },
      resources: { limits: { cpu: "", memory: "" } },
      probes: { liveness: null, readiness: null, startup: null },
    },
  },
  {
    kind: "ingress",
    scope: "shop",
    name: "web",
    spec: { host: "shop.example.com", service: "", tls: { provider: "letsencrypt" }, locations: null, lb: null },
  },
];

async function applied() {
  const answer = await send("POST", "/apply", recorded);
  await it.settle();
  return answer;
}

describe("the contract's own client", () => {
  test("applies what its encoder writes, without a remark on its defaults; TLS stays off", async () => {
    const { status, data } = await applied();
    expect([status, data.warnings]).toEqual([200, undefined]);
    const [stored] = (await send("GET", "/apply?kind=ingress")).data;
    expect(stored.spec).toEqual({ host: "shop.example.com", tls: { provider: "letsencrypt", enabled: false } });
    expect((await send("POST", "/apply", recorded, "berth/1")).status).toBe(400);
    const preview = (await send("POST", "/apply?dry_run=true", recorded)).data;
    expect(preview.plan.map(({ action }: { action: string }) => action)).toEqual(["unchanged", "unchanged"]);
  });

  test.each<[string, string | Uint8Array, string]>([
    ["nests too deeply", `{"env":${'{"a":'.repeat(60_000)}1${"}".repeat(60_000)},"ports":null}`, "nested deeper than"],
    ["says a key twice", '{"image":"a:1","image":"b:1","ports":null}', 'key "image" is given twice'],
    ["has a number that is none", '{"image":"a:1","replicas":1e999,"ports":null}', "the number is too large"],
    ["is not UTF-8", Buffer.from('{"image":"a:1","env":{"A":"\xff"},"ports":null}', "latin1"), "not UTF-8"],
  ])("is told of a body that %s, as everybody is", async (_, spec, part) => {
    const [before, after] = ['[{"kind":"deployment","scope":"s","name":"a","spec":', "}]"];
    const body = Buffer.concat([Buffer.from(before), Buffer.from(spec), Buffer.from(after)]);
    for (const from of [agent, "berth/1"]) {
      const { status, error } = await sendBytes("POST", "/apply", body, from);
      expect([from, status, error]).toEqual([from, 400, expect.stringContaining(part)]);
    }
  });

  test("reads the kind as the role of a replica, and its release; everybody else reads no role", async () => {
    await applied();
    const [{ id }] = (await send("GET", "/describe?kind=deployment&scope=shop&name=web")).data.status.releases;
    const rows = [
      (await send("GET", "/pods")).data.pods[0],
      (await send("GET", "/describe?kind=deployment&scope=shop&name=web")).data.pods[0],
      (await send("GET", "/pods?detail=true&scope=shop&name=web")).data.pods[0],
      (await send("GET", `/pods/${it.containers()[0]}`)).data.pod,
    ];
    for (const row of rows) expect(row).toMatchObject({ role: "deployment", release_id: id });
    const [other] = (await send("GET", "/pods", undefined, "berth/1")).data.pods;
    expect([other.role, other.release_id]).toEqual([undefined, id]);
  });

  test("reads the release that made a replica, not a later one", async () => {
    await applied();
    const [first] = (await send("GET", "/pods")).data.pods;
    await it.advance(2_000);
    await it.apply(deployment("shop", "web", { image: "berth-fixture:1", env: { TWO: "2" } }));
    await it.settle();
    const [second] = (await send("GET", "/pods")).data.pods;
    expect(second.release_id).not.toBe(first.release_id);
  });

  test("sees the values of config with --show-env; without the rights of the machine nobody does", async () => {
    await applied();
    await send("POST", "/config?scope=shop&name=web", { SECRET: "s3" });
    await it.settle();
    const [pod] = it.containers();
    expect((await send("GET", `/pods/${pod}`)).data.pod.env).toMatchObject({ PLAIN: "1", SECRET: "s3" });
    expect((await send("GET", "/pods?detail=true&scope=shop")).data.pods[0].env.SECRET).toBe("s3");
    expect((await send("GET", `/pods/${pod}`, undefined, "berth/1")).data.pod.env.SECRET).toBe(MASK);
    const asked = { spec: false, env: true };
    await expect(it.controller.getPod(pod ?? "", { ...asked, by: unnamed })).rejects.toThrow("takes the scope admin");
    await expect(it.controller.listPods({}, { ...asked, detail: true })).rejects.toThrow("takes the scope admin");
    expect((await it.controller.getPod(pod ?? "", { ...asked, by: operator })).pod.env.SECRET).toBe("s3");
  });

  test.each([
    ["stored", "not served: the ingress is off"],
    ["failing", "not served: port 80 is held by nginx"],
    ["failing", 'not served: no plugin "caddy" is installed'],
  ] as const)("reads what keeps visitors out where it looks: %s, %s", async (phase, why) => {
    await applied();
    served = { phase, why };
    const ingress = (await send("GET", "/describe?kind=ingress&scope=shop&name=web")).data.status;
    expect(ingress).toMatchObject({ phase, last_reconcile_error: why });
    const led = (await send("GET", "/describe?kind=deployment&scope=shop&name=web")).data.status;
    expect(led.last_reconcile_error).toBe(`ingress/shop/web: ${why}`);
    expect((await send("GET", "/pods?scope=shop")).data.degraded).toEqual([
      { kind: "ingress", scope: "shop", name: "web", reason: why },
    ]);
    expect((await send("GET", "/pods?scope=other")).data.degraded).toEqual([]);
    const others = await send("GET", "/describe?kind=deployment&scope=shop&name=web", undefined, "berth/1");
    expect(others.data.status.last_reconcile_error).toBeUndefined();
  });

  test("reads that nobody certifies the name of an ingress", async () => {
    await applied();
    const tls = { enabled: true, provider: "letsencrypt", email: "", on_demand: false, ask: "" };
    await send("POST", "/apply", [{ ...recorded[1], spec: { host: "shop.localhost", tls } }]);
    await it.settle();
    const { phase, last_reconcile_error: why } = (await send("GET", "/describe?kind=ingress&scope=shop&name=web")).data
      .status;
    expect([phase, why]).toEqual(["failing", expect.stringContaining("certifies public domains only")]);
  });

  test("waits no longer than the work takes: a status that says nothing new is as of now", async () => {
    await applied();
    const before = Date.now() - 1_000;
    await send("POST", "/apply", recorded);
    const { status } = (await send("GET", "/describe?kind=deployment&scope=shop&name=web")).data;
    expect(Date.parse(status.last_reconcile_at)).toBeGreaterThan(before);
    expect(status.last_reconcile_error).toBeUndefined();
  });
});
