import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { operator, tokenPrincipal } from "../../../../../src/access/principal.ts";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { printing, testPlugins, writePlugin } from "../../../../support/plugins.ts";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { appsNamedIn } from "../../../../../src/orchestration/core/drill-spec.ts";
import type { ContainerSpec, ResolvedWorkload } from "../../../../../src/orchestration/core/workload.ts";
import { containerSpec } from "../../../../support/container-spec.ts";
import { deployment, job, statefulset } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

const key = { kind: "deployment", scope: "shop", name: "web" } as const;
let it: World;
let made: ContainerSpec[];
/** Ids of images that have a copy outside of the machine. */
let copies: string[];
/** No registry has the images. */
let isBuiltHere: boolean;
/** What the ports of containers do. */
let opens: (port: number) => boolean;
let answers: (url: string) => Response;
beforeEach(async () => {
  [made, copies, isBuiltHere] = [[], [], false];
  opens = () => true;
  answers = () => new Response("ok");
  it = await world({
    async bringImage(id) {
      if (copies.includes(id)) it.runtime.addImage(`copies:${id.slice(7)}`, { id });
      return copies.includes(id);
    },
    fetch: async (url) => answers(url),
    knock: async ({ port }) => {
      if (!opens(port)) throw new Error("connection refused");
    },
    wrapRuntime: (runtime) => ({
      ...runtime,
      inspectImage: async (ref) => {
        const image = await runtime.inspectImage(ref);
        return image === undefined || !isBuiltHere ? image : { ...image, digests: [] };
      },
      create: async (spec) => {
        made.push(spec);
        return runtime.create(spec);
      },
    }),
  });
});
afterEach(() => it.close());

const room = () => it.running.drills;
const volumes = new Map([["berth_shop_files", "berth-drill.a1.0"]]);

/** Starts the copy of an app, beside the live one. */
async function started(spec: Spec) {
  await it.apply(deployment("shop", "web", { volumes: ["files:/data"], ...spec }));
  await it.quiet();
  made.length = 0;
  await room().open("a1");
  const order = { key, ordinal: undefined, id: "a1", volumes: new Map(volumes) };
  return room().start(order, new AbortController().signal);
}

/** The container of the copy. */
async function copied(spec: Spec): Promise<ContainerSpec> {
  await started(spec);
  const found = made.find(({ name }) => name.startsWith("berth-drill."));
  if (found === undefined) throw new Error("no container was made");
  return found;
}

/** How the drill of an app ends. */
async function verdict(probes: Spec, meanwhile = async () => undefined as unknown): Promise<string> {
  const pod = await started({ probes });
  const limit = new AbortController();
  const ending = pod.ready(limit.signal).then(
    ({ result }) => result,
    ({ message }: Error) => `failed: ${message}`,
  );
  await it.advance(15_000);
  await meanwhile();
  await it.advance(20_000);
  limit.abort();
  await it.advance(2_000);
  return ending;
}

describe("the verdict", () => {
  const http = (scheme: string) => ({ http_get: { path: "/up", port: 8443, scheme } });
  test.each<[string, Spec]>([
    ["readiness over http", { readiness: http("http") }],
    ["readiness over https of the container itself", { readiness: http("https") }],
    ["readiness by a port", { readiness: { tcp_socket: { port: 5432 } } }],
    ["readiness by a command", { readiness: { exec: { command: ["true"] } } }],
    ["startup", { startup: http("http") }],
    ["liveness", { liveness: http("http") }],
  ])("is proved where %s has passed", async (_, probes) => {
    expect(await verdict(probes)).toBe("proved");
  });

  test("is only started without a check of the app's", async () => {
    expect(await verdict({})).toBe("started");
  });

  test("is not that it has started, where the app ended once and runs again for less than that time", async () => {
    const crash = async () => it.runtime.crash("berth-drill.a1.shop-web", 4);
    expect(await verdict({}, crash)).toMatch(/^failed: it was not ready in time/);
  });

  test.each<[string, Spec]>([
    ["https", { readiness: http("https") }],
    ["a startup that passed and a readiness that did not", { startup: http("http"), readiness: http("https") }],
    ["a port", { liveness: { tcp_socket: { port: 5432 } } }],
  ])("is failed, with what the check said, where it never passes: %s", async (_, probes) => {
    opens = () => false;
    answers = (url) => (url.startsWith("https:") ? new Response("no database", { status: 503 }) : new Response("ok"));
    expect(await verdict(probes)).toMatch(
      /^failed: it was not ready in time: (503 no database|503.*no database|connection refused)/,
    );
  });
});

describe("what a copy gets", () => {
  test("neither ports, other networks, names of the machine nor options that it was not given", async () => {
    const spec = await copied({
      ports: ["8080:80"],
      networks: ["other"],
      extra_hosts: ["db:10.0.0.1"],
      docker_options: ["--label", "traefik.enable=true", "--dns", "10.0.0.1"],
    });
    expect(spec.networks.map(({ name }) => name)).toEqual(["berth-drill.a1"]);
    expect(spec).toMatchObject({ ports: [], networkMode: "bridge", extraHosts: ["host.docker.internal:127.0.0.1"] });
    expect(spec.options).toMatchObject({ dns: ["192.0.2.1"], capDrop: ["NET_RAW"] });
    expect(spec.options.labels).toBeUndefined();
    expect(spec.mounts.map(({ source }) => source)).toEqual(["berth-drill.a1.0"]);
  });

  test("no kernel parameter that gives it IPv6, in any spelling that the engine takes", async () => {
    const kept = { "net.core.somaxconn": "1024", "net/ipv4/ip_unprivileged_port_start": "0" };
    const opening = ["net.ipv6.conf.all.disable_ipv6", "net/ipv6/conf/eth0/disable_ipv6"];
    const winding = ["net/./ipv6/conf/eth0/disable_ipv6", "net//ipv6/conf/eth0/disable_ipv6", "net.core/../ipv6.x"];
    const lines = [...Object.entries(kept), ...[...opening, ...winding].map((name) => [name, "0"])];
    const spec = await copied({ docker_options: lines.flatMap(([name, value]) => ["--sysctl", `${name}=${value}`]) });
    expect(spec.options.sysctls).toEqual(kept);
  });

  test.each<[string, Spec]>([
    ["network_mode", { network_mode: "host" }],
    ["of the machine", { volumes: ["files:/data", "/var/run/docker.sock:/docker.sock"] }],
    ["external", { volumes: ["files:/data", "theirs:/theirs:external"] }],
    ["privileged", { docker_options: ["--privileged"] }],
    ["device", { docker_options: ["--device", "/dev/sda"] }],
    ["pid mode", { docker_options: ["--pid", "host"] }],
    ["ipc mode", { docker_options: ["--ipc", "host"] }],
    ["capability", { cap_add: ["NET_ADMIN"] }],
    ["security option", { docker_options: ["--security-opt", "apparmor=unconfined"] }],
  ])("an app that reaches the machine is refused, with what does: %s", async (why, spec) => {
    await it.apply(deployment("shop", "web", { volumes: ["files:/data"], ...spec }));
    expect(await room().examine(key)).toEqual({ refused: expect.stringContaining(why) });
  });

  test("a copy of an app that came to reach the machine while its data was restored is not started", async () => {
    await it.apply(deployment("shop", "web", { volumes: ["files:/data"] }));
    await room().open("a1");
    await it.apply(deployment("shop", "web", { volumes: ["files:/data", "/var/run/docker.sock:/docker.sock"] }));
    const order = { key, ordinal: undefined, id: "a1", volumes: new Map(volumes) };
    await expect(room().start(order, new AbortController().signal)).rejects.toThrow("of the machine");
    await it.apply(deployment("shop", "other"));
    expect(await room().examine({ ...key, name: "gone" })).toEqual({ refused: "it was deleted" });
    expect(made.filter(({ name }) => name.startsWith("berth-drill."))).toEqual([]);
  });

  test("what only forbids is kept: no new privileges, a root that cannot be written, dropped capabilities", async () => {
    const flags = ["--security-opt", "no-new-privileges", "--read-only", "--cap-drop", "ALL"];
    const { options } = await copied({ docker_options: flags });
    expect(options).toMatchObject({ securityOpt: ["no-new-privileges"], readonlyRootfs: true });
    expect((await copied({ docker_options: ["--pids-limit=100"] })).options.pidsLimit).toBe(100);
    // Without a limit of the app's the copy has that of the platform.
    expect((await copied({ docker_options: ["--pids-limit=-1"] })).options.pidsLimit).toBeUndefined();
    expect(options.capDrop).toEqual(["ALL", "NET_RAW"]);
  });

  test.each<[string, Record<string, string>, string[]]>([
    ["by its long name, as of an address", { DATABASE_URL: "postgres://app:x@main.data:5432/app" }, ["data/main"]],
    ["by the name of a replica, with the suffix", { HOST: "main-0.data.berth" }, ["data/main"]],
    ["between dots", { HOST: ".main.data..x" }, ["data/main"]],
    ["by its short name, in its own scope", { REDIS: "redis://cache:6379", DB: "db" }, ["shop/cache", "shop/db"]],
    ["among several, in capitals", { SERVERS: "cache:6379,DB:5432" }, ["shop/cache", "shop/db"]],
    ["not by a word in a text, nor by its own name", { TEXT: "the db of the cache", URL: "https://web.shop/" }, []],
    ["not by a name in another scope", { HOST: "db.data", MAIN: "main" }, []],
  ])("the apps that it may need are known %s", async (_, env, wanted) => {
    const others = [deployment("shop", "cache"), deployment("shop", "db"), deployment("data", "main")];
    await it.apply([...others, deployment("shop", "web", { volumes: ["files:/data"], env })]);
    const examined = await room().examine(key);
    expect("names" in examined ? examined.names.toSorted() : examined).toEqual(wanted);
  });

  const nothing = { envPrefixes: [] };
  const long = { A: "a".repeat(131_000), B: "a-1".repeat(43_000), C: "a.".repeat(65_000), D: "main.data" };
  const many = { A: Array.from({ length: 24_000 }, (_, at) => `host-${at}.far`).join(" "), D: "main.data" };
  test.each<[string, Record<string, string>]>([
    ["texts that are long", long],
    ["many hosts, and as many apps", many],
  ])("names are found among %s in the time of one pass", (_, env) => {
    const others = Array.from({ length: 3_000 }, (__, at) => ({ scope: "shop", name: `app-${at}` }));
    const app = { scope: "shop", name: "web", container: { env } } as unknown as ResolvedWorkload;
    // Time of the processor, which a busy machine does not change. One pass takes a fiftieth of this, one pass for each app three times as much.
    const before = process.cpuUsage();
    const names = appsNamedIn(app, [...others, { scope: "data", name: "main" }], nothing);
    const { user, system } = process.cpuUsage(before);
    expect(names).toEqual(["data/main"]);
    expect((user + system) / 1_000_000).toBeLessThan(4);
  });

  test("an image that is gone comes back from a copy outside of the machine, also one of an init", async () => {
    isBuiltHere = true;
    it.runtime.addImage("app:1", { id: "sha256:app" });
    it.runtime.addImage("tools:1", { id: "sha256:tools" });
    const inits = [{ name: "a", image: "tools:1", command: ["true"] }];
    await it.apply(deployment("shop", "web", { image: "app:1", inits }));
    await it.quiet();
    for (const { name } of it.runtime.containers()) if (name.includes("-init-")) it.runtime.finish(name, 0);
    await it.settle();
    for (const { name } of it.runtime.containers()) it.runtime.removeByHand(name);
    for (const id of ["sha256:app", "sha256:tools"]) await it.runtime.removeImage(id);
    expect(await room().examine(key)).toEqual({ refused: "its image app:1 is not on this machine" });
    copies = ["sha256:app", "sha256:tools"];
    expect(await room().examine(key)).toMatchObject({ replicas: 1 });
  });

  test("an image that is gone is refused before anything is restored, also one of an init", async () => {
    await it.apply(deployment("shop", "web", { inits: [{ name: "a", image: "gone:1", command: ["true"] }] }));
    expect(await room().examine(key)).toEqual({ refused: "its image gone:1 is not on this machine" });
  });
});

describe("what a drill takes for its own", () => {
  test("no live container, even if its image carries the role of a drill", async () => {
    const labels = { "berth.role": "drill", "berth.kind": "deployment", "berth.scope": "shop", "berth.name": "api" };
    await it.runtime.create(containerSpec({ name: "of-an-odd-image", labels }));
    await copied({});
    await room().clear();
    expect(it.containers()).toEqual(["of-an-odd-image", expect.stringMatching(/^shop-web\.\w{5}$/)]);
  });

  test("a copy is no replica, whatever labels its image has", async () => {
    const { labels } = await copied({});
    const ofImage = { "berth.kind": "deployment", "berth.scope": "shop", "berth.name": "web", "berth.replica_id": "x" };
    expect({ ...ofImage, ...labels }).toMatchObject({ "berth.kind": "", "berth.name": "", "berth.scope": "" });
    expect((await it.engine.observe()).filter(({ identity }) => identity !== undefined)).toHaveLength(1);
  });

  test("all of it goes: containers, volumes, the network; what is not of a drill stays", async () => {
    await copied({});
    const all = async () => (await it.engine.listVolumes({})).map(({ name }) => name);
    const before = await all();
    await it.engine.ensureVolume("berth-drill.a1.0", { "berth.role": "drill" });
    await room().clear();
    expect(await all()).toEqual(before);
    expect(await it.engine.hasNetwork("berth-drill.a1")).toBe(false);
    expect(it.containers()).toHaveLength(1);
  });
});

describe("a rehearsal", () => {
  const stands = { volumes: ["files:/data"], env: { AT: "old" } };
  const planned = (...body: object[]) => room().rehearse(body, { by: operator, actor: "ann" });
  const order = { key, ordinal: undefined, id: "a1" };
  const signal = new AbortController().signal;

  test("is of the app as an apply would have it, with its release command first, and stores nothing", async () => {
    await it.apply(deployment("shop", "web", stands));
    await it.quiet();
    const [before, events] = [it.store.manifests.get(key), it.events().length];
    made.length = 0;
    const release = { command: ["migrate"], timeout: "1m" };
    const memory = { resources: { limits: { memory: "64M" } } };
    const spec = { ...stands, ...memory, env: { AT: "new" }, release };
    const claims = { volume_claims: [{ name: "data", mount_path: "/var" }] };
    const { stage, apps, left } = await planned(
      deployment("shop", "web", spec),
      statefulset("shop", "db", { ...claims, replicas: 2 }),
      job("shop", "once"),
    );
    expect(apps).toMatchObject([
      { name: "web", hasRelease: true, volumes: [{ claim: "files", volume: "berth_shop_files" }] },
      { name: "db", hasRelease: false, volumes: [{ claim: "data", ordinal: 0 }, { ordinal: 1 }] },
    ]);
    expect(left).toEqual([{ ref: "job/shop/once", why: "only deployments and statefulsets are rehearsed" }]);
    expect(await stage.examine(key)).toMatchObject({ memoryBytes: 64_000_000 });
    await stage.open("a1");
    const ending = stage.release({ ...order, volumes: new Map(volumes) }, signal);
    await it.quiet();
    it.runtime.writeLog("berth-drill.a1.shop-web-release", "no column\n");
    it.runtime.finish("berth-drill.a1.shop-web-release", 3);
    expect(await ending).toEqual({
      ...{ exitCode: 3, said: "no column" },
      failed: "its release command ended with exit code 3; it printed last: no column",
    });
    await stage.start({ ...order, volumes: new Map(volumes) }, signal);
    const [command, replica] = made;
    expect(command).toMatchObject({ command: ["migrate"], memoryBytes: 512 * 1024 * 1024, restart: { name: "no" } });
    expect(command?.networks).toEqual([{ name: "berth-drill.a1", aliases: [] }]);
    expect([replica?.env.AT, replica?.mounts.map(({ source }) => source)]).toEqual(["new", ["berth-drill.a1.0"]]);
    await stage.clear();
    expect([it.store.manifests.get(key), it.events().length]).toEqual([before, events]);
    expect(it.containers()).toEqual([expect.stringMatching(/^shop-web\.\w{5}$/)]);
  });

  test("an image that is not here is pulled; what cannot be had, or reaches the machine, is not rehearsed", async () => {
    it.runtime.addRemoteImage("registry.test/web:2");
    const { stage } = await planned(deployment("shop", "web", { image: "registry.test/web:2" }));
    expect(await stage.examine(key)).toMatchObject({ replicas: 1 });
    const refusedOf = async (...body: object[]) => (await planned(...body)).stage.examine(key);
    expect(await refusedOf(deployment("shop", "web", { image: "registry.test/none:1" }))).toEqual({
      refused: expect.stringContaining("its image registry.test/none:1 is not on this machine: "),
    });
    expect(await refusedOf(deployment("shop", "web", { network_mode: "host" }))).toEqual({
      refused: expect.stringContaining("network_mode"),
    });
    const asset = { kind: "asset", scope: "shop", name: "conf", spec: { files: { a: "x" } } };
    expect(await refusedOf(asset, deployment("shop", "web", { volumes: ["${asset.conf.a}:/etc/a"] }))).toEqual({
      refused: "the file of its asset at /etc/a is not stored yet: apply the asset first",
    });
  });

  test("of the block of a plugin: its apps, and not the database whose data no copy of a volume has", async () => {
    await it.close();
    it = await world({ plugins: (layout) => testPlugins(layout) });
    const claims = { volume_claims: [{ name: "data", mount_path: "/var" }] };
    const manifests = [statefulset("data", "main", claims), deployment("data", "admin")];
    const expand = printing({ status: "ok", data: { manifests } });
    writePlugin(it.layout, "pg", { yml: "name: pg\nversion: 1.0.0\n", commands: { expand } });
    const { apps, left } = await planned({ kind: "pg", scope: "data", name: "main", spec: {} });
    expect(apps).toMatchObject([{ kind: "deployment", scope: "data", name: "admin" }]);
    const why = "its data is of the block pg/data/main, of which there is no copy of a volume";
    expect(left).toEqual([{ ref: "statefulset/data/main", why }]);
    expect(it.store.manifests.list()).toEqual([]);
    const unknown = await planned({ kind: "none", scope: "a", name: "b", spec: {} }).catch((error: Error) => error);
    expect(unknown).toBeInstanceOf(Failure);
  });

  test("fails as an apply would, before anything is done: by the caller's rights, and by the manifest", async () => {
    const by = tokenPrincipal({ scopes: ["actions"], apps: ["shop/web"] });
    const body = [deployment("shop", "web", { docker_options: ["--privileged"] })];
    await expect(room().rehearse(body, { by, actor: "ann" })).rejects.toMatchObject({ code: "forbidden" });
    await expect(planned(deployment("shop", "web", { replicas: -1 }))).rejects.toMatchObject({ code: "invalid" });
    expect([made, it.containers()]).toEqual([[], []]);
  });
});
