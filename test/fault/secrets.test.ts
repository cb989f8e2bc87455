import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import { deployment, statefulset } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";

setDefaultTimeout(60_000);

const mark = crypto.randomUUID().slice(0, 8);
const secrets = {
  scope: `scope-${mark}-value`,
  app: `app-${mark}-value`,
  lines: `first-${mark}-value\nsecond-${mark}-value`,
  borrowed: `borrowed-${mark}-value`,
  token: `token-${mark}-value`,
  old: `old-${mark}-value`,
};
/** One word of every secret, also of the one with several lines. */
const words = Object.values(secrets).flatMap((value) => value.split("\n"));

/** Config values and tokens are told by `GET /config` and to the containers, and nowhere else. */
describe("secret values", () => {
  let berth: Rig;
  let pod: string;
  const registry: Manifest = {
    kind: "registry",
    name: "hub",
    spec: { url: "127.0.0.1:1", username: "ana", token: secrets.token },
  };
  const web = (spec = {}) => deployment("vault", "web", { env_from: ["other"], ...spec });

  beforeAll(async () => {
    berth = await rig();
    await berth.call("POST", "/config?scope=vault", { SCOPE_KEY: secrets.scope });
    await berth.call("POST", "/config?scope=vault&name=web", { APP_KEY: secrets.old, LINES: secrets.lines });
    await berth.call("POST", "/config?scope=vault&name=other", { BORROWED: secrets.borrowed });
    await berth.apply(registry, web(), statefulset("vault", "db"));
    await berth.ready("deployment", "vault", "web");
    // Every way of changing and failing, so that each has had its chance to say too much.
    await berth.cli(["config", "set", "vault/web", `APP_KEY=${secrets.app}`]);
    await berth.cli(["config", "unset", "vault/web", "NOT_THERE"]);
    await berth.ready("deployment", "vault", "web");
    await berth.ready("statefulset", "vault", "db");
    await berth.call("POST", "/config?scope=vault&name=web", { "BAD KEY": secrets.app });
    await berth.call("POST", "/config?scope=vault&name=web", `{"APP_KEY": "${secrets.app}"`);
    await berth.call("POST", "/config?scope=vault&name=web", { APP_KEY: { deep: secrets.app } });
    await berth.apply(deployment("vault", "broken", { image: "127.0.0.1:1/none:1" }));
    await berth.apply(deployment("vault", "dead", { command: ["/no/such/command"] }));
    await berth.tells("deployment vault/broken", "ImagePull");
    await berth.tells("deployment vault/dead", "StartFailed");
    await berth.cli(["restart", "vault/web"]);
    pod = (await berth.pods("vault", "web"))[0]?.name ?? "";
  });
  afterAll(() => berth?.close());

  function expectNone(where: string, text: string): void {
    expect({ where, leaked: words.filter((word) => text.includes(word)) }).toEqual({ where, leaked: [] });
  }

  test("reach the containers, and GET /config shows those of the config", async () => {
    const env = berth.docker(["exec", pod, "env"]);
    for (const word of [secrets.scope, secrets.app, secrets.borrowed, ...secrets.lines.split("\n")]) {
      expect(env).toContain(word);
    }
    const { body } = await berth.call("GET", "/config?scope=vault&name=web");
    expect(JSON.stringify(body)).toContain(secrets.app);
    expect((await berth.cli(["config", "get", "vault/web", "APP_KEY"])).stdout).toBe(`${secrets.app}\n`);
  });

  test("are in no other answer of the API", async () => {
    const paths = [
      "/apply",
      "/apply?kind=registry",
      "/events?limit=1000",
      "/system",
      "/openapi.json",
      "/pods?detail=true&spec=true",
      `/pods/${pod}?spec=true`,
      `/pods/${pod}/ready`,
      ...["deployment/web", "deployment/broken", "deployment/dead", "statefulset/db"].map((ref) => {
        const [kind, name] = ref.split("/");
        return `/describe?kind=${kind}&scope=vault&name=${name}`;
      }),
      "/describe?kind=registry&name=hub",
      "/config?scope=nobody",
    ];
    for (const path of paths) {
      const answer = await berth.call("GET", path);
      expect([200, 503]).toContain(answer.status);
      expectNone(path, JSON.stringify(answer.body));
    }
    const changed = [registry, web({ env: { NEW: "1" } }), deployment("vault", "more", { env_from: ["web"] })];
    const dry = await berth.call("POST", "/apply?dry_run=true&prune=true", changed);
    expect(dry.status).toBe(200);
    expectNone("dry run", JSON.stringify(dry.body).replaceAll(secrets.token, ""));
    expectNone(
      "dry run of what is stored",
      JSON.stringify((await berth.call("POST", "/apply?dry_run=true", [web()])).body),
    );
  });

  test("are in no output of the client but config get", async () => {
    const lines = [
      ["get"],
      ["get", "all", "-o", "json"],
      ["get", "pods", "-o", "json"],
      ["describe", "vault/web"],
      ["describe", "vault/web", "--reveal"],
      ["describe", "pod", pod, "--reveal"],
      ["describe", "registry", "hub", "-o", "json"],
      ["events", "-n", "1000"],
      ["events", "-o", "json"],
      ["config", "list", "vault/web"],
      ["config", "set", "vault/web", "OTHER=1", "--no-restart"],
      ["restart", "vault/web"],
    ];
    for (const line of lines) {
      const { exitCode, stdout, stderr } = await berth.cli(line);
      expect({ line, exitCode }).toEqual({ line, exitCode: 0 });
      expectNone(line.join(" "), stdout + stderr);
    }
    const wrong = await berth.cli(["config", "set", "vault/web", secrets.app]);
    expectNone("a value without its key", wrong.stdout + wrong.stderr);
    expect(wrong.exitCode).toBe(2);
  });

  test("are in no log line", () => {
    expect(berth.server.output()).toContain('"path":"/config"');
    expectNone("log", berth.server.output());
  });

  test("are nowhere in clear on the disk", async () => {
    const backup = join(berth.root, "backups", "copy");
    expect((await berth.cli(["backup", backup, "--root", berth.root])).exitCode).toBe(0);
    const files = readdirSync(berth.root, { recursive: true, encoding: "utf8" }).map((name) => join(berth.root, name));
    const plain = files.filter((file) => statSync(file).isFile());
    expect(plain.length).toBeGreaterThan(3);
    for (const file of plain) expectNone(file, readFileSync(file, "latin1"));
  });

  test("a masked token that is applied again keeps the one that is stored", async () => {
    const { body } = await berth.call("GET", "/apply?kind=registry");
    const shown = (body.data as unknown as Manifest[])[0];
    expect(shown?.spec.token).not.toBe(secrets.token);
    const again = await berth.apply(shown ?? registry);
    expect((again.body.data as unknown as { applied: Manifest[] }).applied[0]?.metadata?.revision).toBe(
      shown?.metadata?.revision,
    );
  });
});
