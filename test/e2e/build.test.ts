import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Build } from "../../src/orchestration/api/builds.ts";
import { executable } from "../support/executable.ts";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(120_000);

let berth: Rig;
let folder: string;
let plane: string;
beforeAll(async () => {
  const addr = `127.0.0.1:${await freePort()}`;
  plane = `http://${addr}`;
  berth = await rig({ addr });
  folder = mkdtempSync(join(tmpdir(), "berth-source."));
});
afterAll(async () => {
  const images = berth.docker(["image", "ls", "-q", "--filter", `label=${berth.prefix}.build`]).split("\n");
  await berth.close();
  for (const image of new Set(images)) if (image !== "") berth.docker(["image", "rm", "-f", image]);
  rmSync(folder, { recursive: true, force: true });
});

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

const cli = (...args: string[]) => berth.cli(args, { cwd: folder });
const page = async () => {
  const [pod] = await berth.pods("shop", "web");
  return berth.docker(["exec", pod?.name ?? "", "cat", "/www/index.html"]).trim();
};
/** What the Dockerfile copied. */
const copied = async () => {
  const [pod] = await berth.pods("shop", "web");
  return berth
    .docker(["exec", pod?.name ?? "", "ls", "-A", "/src"])
    .trim()
    .split("\n");
};
/** When the page is from in the image, and time and mode of the file beside it. */
async function facts(): Promise<[page: number, key: [time: number, mode: number]]> {
  const [pod] = await berth.pods("shop", "web");
  const copy = mkdtempSync(join(tmpdir(), "berth-image."));
  try {
    berth.docker(["cp", `${pod?.name}:/src`, copy]);
    const at = (path: string) => statSync(join(copy, "src", path));
    return [at("page.html").mtimeMs / 1000, [at("key.txt").mtimeMs / 1000, at("key.txt").mode & 0o777]];
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
let firstTimes: Awaited<ReturnType<typeof facts>>;
const builds = async () => ((await berth.call("GET", "/builds")).body.data as unknown as { builds: Build[] }).builds;
const contexts = () => readdirSync(join(berth.root, "builds")).filter((name) => name.endsWith(".gz"));

const manifest = "kind: deployment\nscope: shop\nname: web\nspec:\n  build: {}\n  stop_grace: 1s\n";
const dockerfile =
  'FROM berth-fixture:1\nCOPY page.html /www/index.html\nCOPY . /src\nCOPY tmp/pids /pids\nRUN test ! -e .env && echo "step $(cat /www/index.html)"\nCMD ["httpd", "-f", "-h", "/www"]\n';

test("a folder becomes an image and runs; the same source is neither sent nor built again", async () => {
  write({
    "berth.yaml": manifest,
    Dockerfile: dockerfile,
    "page.html": "one\n",
    ".env": "KEY=1",
    "node_modules/x": "x",
    "key.txt": "k",
  });
  mkdirSync(join(folder, "tmp/pids"), { recursive: true });
  chmodSync(join(folder, "key.txt"), 0o600);
  const first = await cli("up", "-y");
  expect(first.stderr).toContain("uploading 5 files");
  expect(first.stderr).toContain("step one");
  expect(first.stderr).toContain("not sent, since they look like secrets: .env");
  expect([first.stdout, first.exitCode]).toEqual([expect.stringContaining("deployment/shop/web"), 0]);
  expect(await page()).toBe("one");
  firstTimes = await facts();
  expect(firstTimes[0]).toBeGreaterThan(Date.now() / 1000 - 120);
  expect(firstTimes[1]).toEqual([expect.any(Number), 0o600]);
  const again = await cli("up", "-y");
  expect(again.stderr).toContain("is there already: the source has not changed");
  expect(again.stdout).toContain("no changes");
  expect([(await builds()).length, contexts().length]).toEqual([1, 1]);
});

test("a build that fails deploys nothing, and its output is kept", async () => {
  write({ "page.html": "two\n", Dockerfile: dockerfile.replace("test !", "echo broken && false && test !") });
  const failed = await cli("apply", "-f", "berth.yaml", "-y");
  expect(failed.exitCode).toBe(1);
  expect(failed.stderr).toContain("the build of shop/web failed");
  expect(failed.stderr).toContain("nothing was deployed");
  expect(await page()).toBe("one");
  const [build] = await builds();
  expect(build).toMatchObject({ status: "failed", scope: "shop", name: "web" });
  expect((await cli("build", "log", "shop/web", build?.id ?? "")).stdout).toContain("broken");
  expect((await cli("build", "list", "shop/web")).stdout).toMatch(/shop\/web +\w{12} +failed/);
});

test("a new version rolls out, and a rollback brings the image of the old one back without a build", async () => {
  write({ Dockerfile: dockerfile, "page.html": "three\n" });
  expect((await cli("up", "-y")).exitCode).toBe(0);
  expect(await page()).toBe("three");
  // A server of files tells by its time that the page is another; the file beside it is as old as it was.
  const [pageAt, key] = await facts();
  expect(pageAt).toBeGreaterThan(firstTimes[0]);
  expect(key).toEqual(firstTimes[1]);
  const before = (await builds()).length;
  expect((await cli("rollback", "shop/web")).exitCode).toBe(0);
  await berth.ready("deployment", "shop", "web");
  expect([await page(), (await builds()).length]).toEqual(["one", before]);
});

test("a .dockerignore that names itself and the Dockerfile keeps both out of the image", async () => {
  write({ ".dockerignore": ".dockerignore\nDockerfile\nnode_modules\n.env\n", "page.html": "ignoring\n" });
  expect((await cli("up", "-y")).exitCode).toBe(0);
  expect([await page(), await copied()]).toEqual(["ignoring", ["berth.yaml", "key.txt", "page.html", "tmp"]]);
});

test("a manifest whose image is not built is refused with the path", async () => {
  const spec = (build: object) => ({ kind: "deployment", scope: "shop", name: "web", spec: { build } }) as never;
  const missing = await berth.apply(spec({}));
  expect([missing.status, missing.body.problems]).toEqual([
    400,
    [expect.objectContaining({ path: "spec.build.id", reason: "BuildMissing" })],
  ]);
  expect((await berth.apply(spec({ id: "0123456789ab" }))).body.error).toContain('there is no build "0123456789ab"');
});

test("a link that leads out of the folder is refused before anything is sent", async () => {
  symlinkSync("/etc/passwd", join(folder, "leak"));
  const refused = await cli("up", "-y");
  rmSync(join(folder, "leak"));
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringContaining('"leak" leads to "/etc/passwd", out of the folder'),
  ]);
});

/** Whether a step of a build still runs on the machine. */
function running300(): boolean {
  return Bun.spawnSync(["pgrep", "-f", "^sleep 300$"]).exitCode === 0;
}

const secret = `s3cr3t-${Math.random().toString(36).slice(2)}`;
const npmrc = `//registry.example/:_authToken=${secret}`;
const secretSteps =
  "RUN --mount=type=secret,id=TOKEN,required=true --mount=type=secret,id=npm cat /run/secrets/TOKEN && wc -c < /run/secrets/npm > /www/size\n";

test("steps mount secrets of the config and of the command line, and no layer, history, log or state has them", async () => {
  write({
    "berth.yaml": manifest.replace("build: {}", "build: { secrets: [TOKEN] }"),
    Dockerfile: dockerfile.replace("CMD", `${secretSteps}CMD`),
    "page.html": `four ${secret.length} ${berth.prefix}\n`,
    ".npmrc": npmrc,
  });
  const without = await cli("up", "-y");
  expect([without.exitCode, without.stderr]).toEqual([1, expect.stringContaining("berth config set shop/web TOKEN=")]);
  await cli("config", "set", "shop/web", `TOKEN=${secret}`);
  const built = await cli("up", "-y", "--secret", "id=npm,src=.npmrc");
  expect([built.exitCode, built.stderr]).toEqual([0, expect.stringContaining("step four")]);
  const [pod] = await berth.pods("shop", "web");
  expect(berth.docker(["exec", pod?.name ?? "", "cat", "/www/size"]).trim()).toBe(String(npmrc.length));
  const [build] = await builds();
  const log = await cli("build", "log", "shop/web", build?.id ?? "");
  expect(log.stdout).toContain("********");
  const history = berth.docker(["history", "--no-trunc", build?.image ?? ""]);
  const inspect = berth.docker(["image", "inspect", build?.image ?? ""]);
  const unix = berth.dockerHost.replace("unix://", "");
  const saved = await fetch(`http://localhost/images/${build?.image}/get`, { unix });
  const layers = Buffer.from(await saved.arrayBuffer());
  expect(layers.includes("/www") && layers.length > 1_000_000).toBe(true);
  const state = readdirSync(berth.root).filter((name) => name.startsWith("state.db"));
  const kept = state.map((name) => readFileSync(join(berth.root, name)));
  for (const place of [
    built.stdout,
    built.stderr,
    log.stdout,
    history,
    inspect,
    berth.server.output(),
    layers,
    ...kept,
  ])
    expect(place.includes(secret)).toBe(false);
});

test("a step that needs a secret which is not given fails and says which", async () => {
  write({ "berth.yaml": manifest, "page.html": "five\n" });
  const failed = await cli("up", "-y");
  expect([failed.exitCode, failed.stderr]).toEqual([1, expect.stringContaining("write build.secrets: [TOKEN]")]);
});

test("a base image whose registry is not reached names the registry and the way out", async () => {
  write({ "berth.yaml": manifest, Dockerfile: "FROM 127.0.0.1:9/base:1\n", "page.html": "base\n" });
  const { exitCode, stderr } = await cli("up", "-y");
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("does not reach the registry 127.0.0.1:9: check")]);
});

test("texts in a Dockerfile are built, or the message names the version of Docker and the way out", async () => {
  const version = berth.docker(["version", "--format", "{{.Server.Version}}"]).trim();
  write({
    "berth.yaml": manifest,
    Dockerfile: `${dockerfile}RUN <<END\necho from-a-text\nEND\n`,
    "page.html": "text\n",
  });
  const { exitCode, stderr } = await cli("up", "-y");
  if (Number(version.split(".")[0]) >= 23)
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("from-a-text")]);
  else {
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`Docker ${version} does not know texts`)]);
    expect(stderr).toContain("# syntax=docker/dockerfile:1");
  }
});

test.each([
  ["the classic builder", "RUN sleep 300\n"],
  ["BuildKit", "RUN --mount=type=cache,target=/tmp/c sleep 300\n"],
])("an interrupted command ends the build by %s", async (_, step) => {
  write({ Dockerfile: `${dockerfile}${step}`, "page.html": "never\n" });
  const before = await page();
  const { promise, resolve } = Promise.withResolvers<void>();
  const running = Bun.spawn([executable, "up", "-y"], {
    cwd: folder,
    env: { ...process.env, BERTH_ENDPOINT: berth.endpoint },
    stdout: "ignore",
    stderr: "pipe",
  });
  void (async () => {
    for await (const chunk of running.stderr) if (new TextDecoder().decode(chunk).includes("sleep 300")) resolve();
  })();
  await promise;
  running.kill("SIGINT");
  await running.exited;
  await waitFor("the build to be canceled", async () => (await builds())[0]?.status === "canceled");
  await waitFor("its step to end", () => !running300());
  expect(await page()).toBe(before);
});

test("a Dockerfile reads nothing of the server, although the engine that fetches for it is root", async () => {
  expect((await berth.call("POST", "/config?scope=spy&name=web", { KEY: "hidden" })).status).toBe(200);
  const secret = `${plane}/config?scope=spy&name=web`;
  // The same question by root itself is answered.
  expect(await (await fetch(secret)).text()).toContain("hidden");
  write({
    "berth.yaml": "kind: deployment\nscope: spy\nname: web\nspec:\n  build: {}\n  replicas: 0\n",
    Dockerfile: `FROM berth-fixture:1\nADD ${secret} /leak\nRUN cat /leak\n`,
  });
  const { exitCode, stderr } = await cli("up", "-y");
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain("403");
  expect(stderr).not.toContain("hidden");
});
