// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { describe, expect, test } from "bun:test";
import { type Choices, firstManifest } from "../../../../src/client/init/manifest.ts";
import { type Findings, lookAt } from "../../../../src/client/init/look.ts";
import { readManifests } from "../../../../src/client/manifests/read.ts";
import { clientLimits, limits } from "../../../../src/config/config.ts";
import { decodeManifests } from "../../../../src/orchestration/core/validate.ts";
import { folder } from "../../../support/files.ts";
import { treeOf } from "../../../support/source-tree.ts";

const plain: Findings = { source: "Dockerfile", port: 3000, processes: [], env: undefined, notes: [] };
const shop: Choices = { scope: "shop", name: "web", host: undefined, port: 3000, image: undefined };

/** As berth apply reads it, and as the server checks it. */
async function read(text: string) {
  using place = folder({ "berth.yaml": text });
  const set = await readManifests(["berth.yaml"], {
    cwd: place.path,
    stdin: async () => "",
    variables: {},
    limits: clientLimits,
  });
  expect(decodeManifests(set.manifests, { limits }).problems).toEqual([]);
  return set.manifests as { kind: string; scope: string; name: string; spec: Record<string, unknown> }[];
}

const sources: Record<string, Record<string, string>> = {
  node: { "package.json": "{}", "server.js": "" },
  bun: { "package.json": "{}", "bun.lock": "", "index.ts": "" },
  deno: { "deno.json": "{}", "main.ts": "" },
  python: { "requirements.txt": "", "main.py": "" },
  go: { "go.mod": "" },
  rails: { Gemfile: "", "config/application.rb": "" },
  php: { "index.php": "" },
  rust: { "Cargo.toml": '[package]\nname = "a"\n', "src/main.rs": "" },
  java: { "pom.xml": "<artifactId>spring-boot-maven-plugin</artifactId><goal>repackage</goal>" },
  elixir: { "mix.exs": "app: :a" },
  static: { "index.html": "" },
  Dockerfile: { Dockerfile: "FROM x\n" },
};

test.each(Object.entries(sources))("a folder of %s gets a manifest that the server takes", async (_, files) => {
  const look = lookAt(treeOf(files));
  if (!look.ok) throw new Error(look.problem);
  const { findings } = look;
  for (const host of [undefined, "shop.example.com"]) {
    const [app] = await read(firstManifest({ ...shop, host, port: findings.port }, findings));
    expect(app).toMatchObject({ kind: "app", scope: "shop", name: "web", spec: { build: {}, replicas: 1 } });
    expect(app?.spec.ports).toEqual(findings.port === undefined ? undefined : [String(findings.port)]);
    expect(app?.spec.host).toEqual(host);
  }
});

test("every comment that is a field is one that the server takes, too", async () => {
  const text = firstManifest({ ...shop, port: undefined }, { ...plain, port: undefined });
  const [app] = await read(text.replaceAll(/^ {2}# ((?:ports|host|tls|resources): .*)$/gm, "  $1"));
  expect(app?.spec).toMatchObject({ ports: ["8080"], host: "app.example.com", tls: {}, resources: { limits: {} } });
});

test("a database that the app needs follows as a block without its signs", async () => {
  const files = {
    "package.json": '{"scripts":{"start":"node a.js"},"dependencies":{"express":"4","pg":"8","redis":"4"}}',
    "a.js": "app.listen(process.env.PORT)",
  };
  const look = lookAt(treeOf(files));
  if (!look.ok) throw new Error(look.problem);
  const written = firstManifest(shop, look.findings);
  expect(await read(written)).toHaveLength(1);
  const open = written.replaceAll(/^# (?=---|kind|scope|name|spec)/gm, "");
  const [, postgres, redis] = open.split("\n---\n").map((one) => Bun.YAML.parse(one));
  expect(postgres).toEqual({ kind: "postgres", scope: "shop", name: "db", spec: { links: ["shop/web"] } });
  expect(redis).toMatchObject({ kind: "redis", name: "cache" });
});

describe("a Procfile", () => {
  const processes = [
    { type: "web", command: 'puma -p ${PORT:-1} "a b" $$ # x' },
    { type: "worker", command: "node worker.js" },
    { type: "release", command: "bin/migrate" },
  ];

  test("becomes the command of the app, its release command, and deployments", async () => {
    const [app, worker, ...more] = await read(firstManifest(shop, { ...plain, processes }));
    expect(app?.spec).toMatchObject({
      command: ["sh", "-c", 'exec puma -p ${PORT:-1} "a b" $$ # x'],
      release: { command: ["sh", "-c", "exec bin/migrate"] },
      env: { PORT: "3000" },
    });
    expect(worker).toMatchObject({
      kind: "deployment",
      scope: "shop",
      name: "worker",
      spec: { build: {}, command: ["sh", "-c", "exec node worker.js"], env_from: ["web"] },
    });
    expect(more).toEqual([]);
  });

  test("beside an app of another name, is named after it", async () => {
    const [, worker] = await read(firstManifest({ ...shop, name: "api" }, { ...plain, processes }));
    expect([worker?.name, worker?.spec.env_from]).toEqual(["api-worker", ["api"]]);
  });

  test("without web has no app; its first process runs the release command", async () => {
    const [mailer, worker, ...more] = await read(
      firstManifest(shop, { ...plain, processes: [{ type: "mailer", command: "x" }, ...processes.slice(1)] }),
    );
    expect(mailer).toMatchObject({
      kind: "deployment",
      name: "mailer",
      spec: { release: { command: expect.any(Array) } },
    });
    expect([mailer?.spec.env_from, worker?.name, worker?.spec.release]).toEqual([undefined, "worker", undefined]);
    expect(more).toEqual([]);
  });

  test("with release alone belongs to the app, which runs what its image says", async () => {
    const [app, ...more] = await read(firstManifest(shop, { ...plain, processes: processes.slice(2) }));
    expect(app).toMatchObject({ kind: "app", spec: { release: { command: ["sh", "-c", "exec bin/migrate"] } } });
    expect([app?.spec.command, app?.spec.env, more]).toEqual([undefined, undefined, []]);
  });

  test("with long names stays within what a name may have", async () => {
    const [, worker] = await read(firstManifest({ ...shop, name: "w".repeat(63) }, { ...plain, processes }));
    expect(worker?.name).toBe(`${"w".repeat(56)}-worker`);
  });
});

test.each([["app.localhost"], ["app.internal"], ["nas"]])("the certificate of %s is the server's own", async (host) => {
  const [app] = await read(firstManifest({ ...shop, host }, plain));
  expect(app?.spec.tls).toEqual({ provider: "internal" });
});

test("an image in place of a build; names that YAML would take for something else", async () => {
  const image = "registry.example.com:5000/shop/web:1";
  const choices = { ...shop, scope: "1", name: "true", image };
  const [app] = await read(firstManifest(choices, plain));
  expect(app).toMatchObject({ scope: "1", name: "true", spec: { image } });
  expect(app?.spec.build).toBeUndefined();
});

test("variables of an env file are named, and no more of them than a reader wants", () => {
  const keys = Array.from({ length: 20 }, (_, index) => `KEY_${index}`);
  const text = firstManifest(shop, { ...plain, env: { file: ".env.example", keys } });
  expect(text).toContain("  # .env.example names KEY_0, KEY_1, ");
  expect(text).toContain("KEY_11 ….");
  expect(text).not.toContain("KEY_12");
  expect(text).toContain("berth env import shop/web .env\n");
});
