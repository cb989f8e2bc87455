import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { networkInterfaces } from "node:os";
import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import { rawDocker } from "../support/docker.ts";
import { deployment, statefulset } from "../support/manifests.ts";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

/** What a manifest says, seen from inside the container and with Docker's own eyes. */
describe("what runs", () => {
  let berth: Rig;
  beforeAll(async () => {
    berth = await rig();
  });
  afterAll(() => berth?.close());

  const up = async (...manifests: Manifest[]) => {
    const answer = await berth.apply(...manifests);
    expect(answer.body.error).toBeUndefined();
    for (const { kind, scope = "", name } of manifests) {
      if (kind === "deployment" || kind === "statefulset") await berth.ready(kind, scope, name);
    }
  };
  const podOf = async (scope: string, name: string) => (await berth.pods(scope, name))[0]?.name ?? "";
  const inside = (pod: string, ...command: string[]) => berth.docker(["exec", pod, ...command]);
  const inspect = (pod: string, path: string) =>
    JSON.parse(berth.docker(["inspect", "--format", `{{json ${path}}}`, pod]));
  const page = (text: string): Manifest => ({
    kind: "asset",
    scope: "shop",
    name: "page",
    spec: { files: { index: text } },
  });
  const httpd = ["httpd", "-f", "-p", "8080", "-h", "/www"];

  test("pods find each other by name, with and without the suffix, and each ordinal by its own", async () => {
    await up(
      page("hello from web"),
      deployment("shop", "web", { command: httpd, volumes: ["${asset.page.index}:/www/index.html:ro"] }),
      statefulset("shop", "db", { replicas: 2 }),
      deployment("other", "client"),
    );
    const client = await podOf("other", "client");
    for (const host of ["web.shop", `web.shop.${berth.prefix}`]) {
      expect(inside(client, "wget", "-q", "-O", "-", `http://${host}:8080/`)).toBe("hello from web");
    }
    const addressOf = (pod: string) =>
      Object.values<{ IPAddress: string }>(inspect(pod, ".NetworkSettings.Networks"))[0]?.IPAddress;
    for (const ordinal of [0, 1]) {
      const seen = inside(client, "busybox", "nslookup", `db-${ordinal}.shop`);
      expect(seen).toContain(addressOf(`shop-db.${ordinal}`) ?? "no address");
    }
  });

  test("the first start waits for the apps of start_after, why says so, and a restart does not wait", async () => {
    const probes = { readiness: { exec: { command: ["test", "-e", "/tmp/up"] }, period: "500ms" } };
    await berth.apply(
      deployment("order", "web", { start_after: ["db"] }),
      statefulset("order", "db", { probes, command: ["sleep", "1000"] }),
    );
    const db = await waitFor("the database", async () => (await podOf("order", "db")) || undefined);
    await waitFor("it to run", () => inspect(db, ".State.Running") === true);
    await waitFor("the reason", async () => {
      const { stdout } = await berth.cli(["why", "order/web"]);
      return stdout.includes("the first start waits for order/db to be ready (start_after), until 20");
    });
    expect(await berth.pods("order", "web")).toEqual([]);
    inside(db, "touch", "/tmp/up");
    await berth.ready("deployment", "order", "web");
    inside(db, "rm", "/tmp/up");
    await waitFor(
      "the database to be unready",
      async () => (await berth.status("statefulset", "order", "db")).phase !== "ready",
    );
    expect((await berth.cli(["restart", "order/web"])).exitCode).toBe(0);
    await berth.ready("deployment", "order", "web");
  });

  test("a file of an asset with a mode is a program", async () => {
    const run = "#!/bin/sh\necho ran > /tmp/ran\nexec sleep 3600\n";
    const spec = { files: { run, plain: run }, modes: { run: "0755" } };
    await up(
      { kind: "asset", scope: "shop", name: "programs", spec },
      deployment("shop", "program", {
        command: ["/run.sh"],
        volumes: ["${asset.programs.run}:/run.sh:ro", "${asset.programs.plain}:/plain.sh:ro"],
      }),
    );
    const pod = await podOf("shop", "program");
    expect(inside(pod, "cat", "/tmp/ran").trim()).toBe("ran");
    expect(inside(pod, "sh", "-c", "test -x /run.sh && ! test -x /plain.sh && echo so").trim()).toBe("so");
  });

  test("a changed asset rolls who reads it, and the file has the new content", async () => {
    const before = await podOf("shop", "web");
    await up(page("another page"));
    await waitFor("the reader to be replaced", async () => (await podOf("shop", "web")) !== before);
    await berth.ready("deployment", "shop", "web");
    expect(inside(await podOf("shop", "web"), "cat", "/www/index.html")).toBe("another page");
    expect(inspect(await podOf("shop", "web"), ".Mounts")).toMatchObject([
      { Destination: "/www/index.html", RW: false },
    ]);
    const client = await podOf("other", "client");
    expect(inside(client, "wget", "-q", "-O", "-", "http://web.shop:8080/")).toBe("another page");
  });

  test("the environment: later sources win, and a config change reaches who reads it", async () => {
    const levels = ["BORROWED", "SCOPE", "APP", "MANIFEST"];
    const from = (level: string, index: number) =>
      Object.fromEntries(levels.slice(index).map((key) => [`FROM_${key}`, level]));
    await berth.call("POST", "/config?scope=env&name=lender", from("borrowed", 0));
    await berth.call("POST", "/config?scope=env", from("scope", 1));
    await berth.call("POST", "/config?scope=env&name=app", from("app", 2));
    const app = deployment("env", "app", { env_from: ["lender"], env: from("manifest", 3) });
    await up(app);
    const env = async () => inside(await podOf("env", "app"), "env").split("\n");
    expect(await env()).toEqual(
      expect.arrayContaining([
        "FROM_BORROWED=borrowed",
        "FROM_SCOPE=scope",
        "FROM_APP=app",
        "FROM_MANIFEST=manifest",
        `${berth.prefix.toUpperCase()}_SCOPE=env`,
        `${berth.prefix.toUpperCase()}_NAME=app`,
      ]),
    );
    const set = await berth.cli(["config", "set", "env/lender", "FROM_BORROWED=changed"]);
    expect(set.stdout).toContain("restarting deployment/env/app");
    await waitFor("the new value", async () => (await env()).includes("FROM_BORROWED=changed"));
    await berth.ready("deployment", "env", "app");
    const left = await podOf("env", "app");
    await berth.cli(["config", "set", "env/app", "QUIET=1", "--no-restart"]);
    await berth.ready("deployment", "env", "app");
    expect(await podOf("env", "app")).toBe(left);
  });

  test("limits, labels, policy, logs and raw options, as Docker has them", async () => {
    await up(
      deployment("limits", "app", {
        resources: { limits: { cpu: "250m", memory: "64Mi" } },
        ulimits: { nofile: "2048:4096" },
        restart: "on-failure:3",
        cap_add: ["NET_ADMIN"],
        extra_hosts: ["db.test:10.1.2.3"],
        logs: { max_size: "1m", max_files: 2 },
        docker_options: ["--label", "team=a", "--read-only", "--user", "65534"],
        stop_grace: "4s",
      }),
    );
    const pod = await podOf("limits", "app");
    const host = inspect(pod, ".HostConfig");
    expect(host).toMatchObject({
      NanoCpus: 250_000_000,
      Memory: 64 * 1024 * 1024,
      RestartPolicy: { Name: "on-failure", MaximumRetryCount: 3 },
      CapAdd: ["NET_ADMIN"],
      LogConfig: { Type: "json-file", Config: { "max-size": "1m", "max-file": "2" } },
      ReadonlyRootfs: true,
      NetworkMode: `${berth.prefix}0`,
    });
    expect(host.Ulimits).toEqual([{ Name: "nofile", Soft: 2048, Hard: 4096 }]);
    expect(host.ExtraHosts).toContain("db.test:10.1.2.3");
    expect(inspect(pod, ".Config")).toMatchObject({ StopTimeout: 4, User: "65534" });
    const label = (word: string) => `${berth.prefix}.${word}`;
    expect(inspect(pod, ".Config.Labels")).toMatchObject({
      team: "a",
      createdby: berth.prefix,
      [label("kind")]: "deployment",
      [label("scope")]: "limits",
      [label("name")]: "app",
      [label("replica_id")]: pod.split(".").at(-1),
      [label("manifest_hash")]: expect.stringMatching(/^[0-9a-f]{64}$/),
      [label("installation")]: expect.any(String),
    });
    // Of the program itself: what is executed beside it may get the hard limit from the engine.
    expect(inside(pod, "grep", "Max open files", "/proc/1/limits")).toMatch(/files +2048 +4096/);
  });

  test("published ports listen on loopback only", async () => {
    const port = await freePort();
    await up(
      deployment("ports", "app", {
        command: ["sh", "-c", "mkdir -p /tmp/w; echo reached > /tmp/w/index.html; exec httpd -f -p 8080 -h /tmp/w"],
        ports: [`${port}:8080`, "8080"],
      }),
    );
    const published = berth.docker(["port", await podOf("ports", "app")]).split("\n");
    expect(published).toContain(`8080/tcp -> 127.0.0.1:${port}`);
    expect(published.every((line) => line.includes("-> 127.0.0.1:"))).toBe(true);
    expect(published).toHaveLength(2);
    const read = async (host: string) => (await fetch(`http://${host}:${port}/`)).text();
    await waitFor("the page", async () => (await read("127.0.0.1")) === "reached\n");
    const others = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ family, internal }) => family === "IPv4" && !internal);
    for (const { address } of others) await expect(read(address)).rejects.toThrow();
  });

  test("a statefulset keeps its data over a new spec, a restart, a scale-down and up", async () => {
    const spec = (more = {}) =>
      statefulset("data", "db", { replicas: 2, volume_claims: [{ name: "disk", mount_path: "/disk" }], ...more });
    await up(spec());
    for (const ordinal of [0, 1]) inside(`data-db.${ordinal}`, "sh", "-c", `echo mine-${ordinal} > /disk/file`);
    const content = () => [0, 1].map((ordinal) => inside(`data-db.${ordinal}`, "cat", "/disk/file"));
    const first = berth.docker(["inspect", "--format", "{{.Id}}", "data-db.0"]);
    await up(spec({ env: { NEW: "1" } }));
    expect(berth.docker(["inspect", "--format", "{{.Id}}", "data-db.0"])).not.toBe(first);
    expect(content()).toEqual(["mine-0", "mine-1"]);
    expect((await berth.cli(["restart", "data/db"])).exitCode).toBe(0);
    expect(content()).toEqual(["mine-0", "mine-1"]);
    await up(spec({ replicas: 1 }));
    await waitFor("one", async () => (await berth.pods("data", "db")).length === 1);
    await up(spec({ replicas: 2 }));
    expect(content()).toEqual(["mine-0", "mine-1"]);

    const kept = await berth.cli(["delete", "data/db", "-y"]);
    expect(kept.stdout).toContain("--prune would wipe them");
    await waitFor("none", async () => (await berth.pods("data", "db")).length === 0);
    await up(spec());
    expect(content()).toEqual(["mine-0", "mine-1"]);

    const once = await berth.cli(["delete", "data/db.1", "--prune", "-y"]);
    expect(once.stdout).toContain(`removed volume ${berth.prefix}-data-db-disk-1`);
    await berth.ready("statefulset", "data", "db");
    await waitFor("a pod with an empty disk", () => inside("data-db.1", "sh", "-c", "ls /disk | wc -l") === "0");
    expect(inside("data-db.0", "cat", "/disk/file")).toBe("mine-0");

    const wiped = await berth.cli(["delete", "data/db", "--prune", "-y"]);
    expect(wiped.exitCode).toBe(0);
    expect(berth.docker(["volume", "ls", "-q", "--filter", `label=${berth.prefix}.scope=data`])).toBe("");
  });

  test("a rollout never goes below the wanted count", async () => {
    await up(deployment("full", "web", { replicas: 3 }));
    const engine = rawDocker(berth.dockerHost);
    let least = 3;
    const rolling = up(deployment("full", "web", { replicas: 3, env: { NEW: "1" } }));
    const done = rolling.then(() => true);
    const filters = { label: [`${berth.prefix}.scope=full`], status: ["running"] };
    while (!(await Promise.race([done, Bun.sleep(20).then(() => false)]))) {
      least = Math.min(least, (await engine.listContainers({ filters })).length);
    }
    expect(least).toBe(3);
  });
});
