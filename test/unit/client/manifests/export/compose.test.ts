// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { describe, expect, test } from "bun:test";
import { exportCompose } from "../../../../../src/client/manifests/export/compose/export.ts";
import type { CoreDraft } from "../../../../../src/orchestration/core/draft.ts";

const draft = (kind: CoreDraft["kind"], spec: object, name = "web", scope = "shop"): CoreDraft => {
  return { kind, scope, name, spec: spec as Record<string, unknown> };
};

function compose(...drafts: CoreDraft[]) {
  const { document, losses } = exportCompose(drafts);
  return { document, losses: losses.map(({ path, message }) => `${path}: ${message}`) };
}

function service(spec: object) {
  const { document, losses } = compose(draft("deployment", { image: "x", ...spec }));
  return { web: (document.services as { web: object }).web, losses, document };
}

const always = {
  restart: "unless-stopped",
  networks: { default: { aliases: ["web.shop"] } },
  logging: { driver: "json-file", options: { "max-size": "10m", "max-file": "3" } },
  stop_grace_period: "10s",
};

describe("exportCompose", () => {
  test.each<[object, object]>([
    [{}, {}],
    [
      { entrypoint: ["a"], command: ["$b"] },
      { entrypoint: ["a"], command: ["$$b"] },
    ],
    [{ env: { A: "x$y" } }, { environment: { A: "x$$y" } }],
    [{ ports: ["80", "8080:80", "[::1]:1:2/udp"] }, { ports: ["127.0.0.1::80", "127.0.0.1:8080:80", "[::1]:1:2/udp"] }],
    [{ volumes: ["/srv:/s:ro"] }, { volumes: ["/srv:/s:ro"] }],
    [
      { replicas: 2, resources: { limits: { cpu: "500m", memory: "1Gi" } } },
      { deploy: { replicas: 2, resources: { limits: { cpus: "0.5", memory: "1073741824b" } } } },
    ],
    [
      { probes: { readiness: { exec: { command: ["a"] }, period: "5s" } } },
      { healthcheck: { test: ["CMD", "a"], interval: "5s", timeout: "1s", retries: 3 } },
    ],
    [{ docker_options: ["--user=me", "--tmpfs=/t", "--label=a=b"] }, { user: "me", tmpfs: ["/t"], labels: { a: "b" } }],
    [
      { ulimits: { nofile: "1:2", nproc: "3" } },
      { ulimits: { nofile: { soft: 1, hard: 2 }, nproc: { soft: 3, hard: 3 } } },
    ],
    [
      { pull: "always", stop_signal: "SIGQUIT", cap_add: ["SYS_NICE"] },
      { pull_policy: "always", stop_signal: "SIGQUIT", cap_add: ["SYS_NICE"] },
    ],
  ])("%j carries over", (spec, fields) => {
    const { web, losses } = service(spec);
    expect(web).toEqual({ image: "x", ...always, ...fields });
    expect(losses).toEqual([]);
  });

  test("the order of the first start is depends_on, which waits for a health check only where there is one", () => {
    const probes = { readiness: { exec: { command: ["a"] } } };
    const { document, losses } = compose(
      draft("deployment", { image: "x", start_after: ["db", "cache", "queue:started", "gone"] }),
      draft("statefulset", { image: "x", probes }, "db"),
      draft("deployment", { image: "x" }, "cache"),
      draft("deployment", { image: "x", probes }, "queue"),
    );
    const [healthy, started] = [{ condition: "service_healthy" }, { condition: "service_started" }];
    expect(document).toMatchObject({
      services: { web: { depends_on: { db: healthy, cache: started, queue: started } } },
    });
    expect(losses).toEqual([]);
  });

  test("the owner of volumes has no counterpart, and that is said", () => {
    const { web, losses } = service({ volumes: ["/srv:/s"], volume_owner: "1000" });
    expect(web).not.toHaveProperty("volume_owner");
    expect(losses.join()).toContain("spec.volume_owner: has no counterpart: a service that runs chown");
  });

  test("builds, the host's network, and networks of others", () => {
    const { document } = compose(draft("deployment", { build: { context: "./a", dockerfile: "D", args: { A: "1" } } }));
    expect(document).toMatchObject({
      services: { web: { build: { context: "./a", dockerfile: "D", args: { A: "1" } } } },
    });
    expect(service({ network_mode: "host" }).web).not.toHaveProperty("networks");
    const joined = service({ networks: ["shared"] });
    expect(joined.web).toMatchObject({ networks: { default: { aliases: ["web.shop"] }, shared: {} } });
    const known = service({ docker_options: ["--network-alias=sql"] });
    expect(known.web).toMatchObject({ networks: { default: { aliases: ["web.shop", "sql.shop", "sql"] } } });
    expect(joined.document.networks).toEqual({ shared: { external: true } });
  });

  test("volumes and files stand beside the services", () => {
    const volumes = ["data:/d", "own:/o:external", "${asset.files.conf}:/c:ro", "${asset.files.none}:/n:ro"];
    const web = draft("deployment", { image: "x", volumes });
    const db = draft("statefulset", { image: "pg", volume_claims: [{ name: "data", mount_path: "/d" }] }, "db");
    const { document, losses } = compose(web, db, draft("asset", { files: { conf: "a $x" } }, "files"));
    const program = { files: { conf: "#!/bin/sh" }, modes: { conf: "0755" } };
    const { document: run } = compose(web, draft("asset", program, "files"));
    expect(run).toMatchObject({
      services: { web: { configs: [{ source: "files-conf", target: "/c", mode: "0755" }] } },
    });
    expect(document).toMatchObject({
      name: "shop",
      services: {
        web: { volumes: ["data:/d", "own:/o"], configs: [{ source: "files-conf", target: "/c" }] },
        db: { volumes: ["db-data:/d"] },
      },
      volumes: { data: {}, own: { external: true, name: "own" }, "db-data": {} },
      configs: { "files-conf": { content: "a $$x" } },
    });
    expect(losses).toContain("deployment/shop/web: spec.volumes[3]: holds no text that is known here: left out");
  });

  test.each<[object, string]>([
    [{ probes: { readiness: { tcp_socket: { port: 1 } } } }, "spec.probes.readiness: is asked from outside"],
    [{ probes: { liveness: { exec: { command: ["a"] } } } }, "spec.probes.liveness: has no counterpart"],
    [{ autoscale: { min: 1, max: 2, cpu_target: 5 } }, "spec.autoscale: has no counterpart"],
    [{ env: { A: "${ref.deployment.x.host}" } }, "spec.env.A: holds a reference that only berth resolves"],
    [{ inits: [{ name: "a", command: [] }] }, "spec.inits: has no counterpart"],
  ])("%j is lost, and said", (spec, message) => {
    const { losses } = service(spec);
    expect(losses).toHaveLength(1);
    expect(losses[0]).toStartWith(`deployment/shop/web: ${message}`);
  });

  test("of several scopes, services have their scope in the name; other kinds are said", () => {
    const { document, losses } = compose(
      draft("deployment", { image: "x" }, "web", "a"),
      draft("deployment", { image: "x" }, "web", "b"),
      draft("ingress", { host: "x" }),
    );
    expect(Object.keys(document.services as object)).toEqual(["a-web", "b-web"]);
    expect(document).not.toHaveProperty("name");
    expect(losses).toEqual(["ingress/shop/web: spec: has no counterpart: a proxy in front of the published ports"]);
  });
});
