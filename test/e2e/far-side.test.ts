import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import type { Build } from "../../src/orchestration/api/builds.ts";
import { executable } from "../support/executable.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(120_000);

let berth: Rig;
let folder: string;
beforeAll(async () => {
  berth = await rig();
  folder = mkdtempSync(join(tmpdir(), "berth-far."));
  symlinkSync(executable, join(folder, berth.prefix));
});
afterAll(async () => {
  const images = berth.docker(["image", "ls", "-q", "--filter", `label=${berth.prefix}.build`]).split("\n");
  await berth.close();
  for (const image of new Set(images)) if (image !== "") berth.docker(["image", "rm", "-f", image]);
  rmSync(folder, { recursive: true, force: true });
});

interface Sent {
  stdin?: string | Uint8Array<ArrayBuffer>;
  events?: boolean;
  env?: Record<string, string>;
}

/** As sshd starts it: the words after a link under the prefix's name, and a few variables. */
async function far(line: string, { stdin = "", events = false, env = {} }: Sent = {}) {
  const name = berth.prefix.toUpperCase();
  const sent = {
    [`${name}_ARGV_REWRITTEN`]: "1",
    NO_COLOR: "1",
    ...(events ? { [`${name}_PROTOCOL`]: "ndjson/1" } : {}),
  };
  const run = Bun.spawn([join(folder, berth.prefix), ...line.split(" ")], {
    stdin: new Blob([stdin]),
    stdout: "pipe",
    stderr: "pipe",
    cwd: folder,
    env: { PATH: "/usr/bin:/bin", HOME: folder, TMPDIR: folder, BERTH_ENDPOINT: berth.endpoint, ...sent, ...env },
  });
  const [out, err] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
  const code = await run.exited;
  // Whoever calls this by ssh sees no more than this.
  if (code !== 0) expect([line, out + err]).not.toEqual([line, ""]);
  return { code, out, err };
}
const good = async (line: string, sent?: Sent) => {
  const { code, out, err } = await far(line, sent);
  expect({ line, code, err: code === 0 ? "" : err }).toEqual({ line, code: 0, err: "" });
  return out;
};
const eventsOf = (out: string) =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, string>);

async function archive(files: Record<string, string>): Promise<Uint8Array<ArrayBuffer>> {
  const tar = pack();
  for (const [name, text] of Object.entries(files)) tar.entry({ name, mode: 0o644 }, text);
  tar.finalize();
  const parts: Uint8Array[] = [];
  for await (const part of tar) parts.push(part as Uint8Array);
  return new Uint8Array(gzipSync(Buffer.concat(parts)));
}
const source = (page: string) =>
  archive({
    Dockerfile: `FROM berth-fixture:1\nRUN echo ${page} >/page\nCMD ["sh", "-c", "trap exit TERM; sleep 1000000 & wait"]\n`,
    ".env": "A=1\n",
  });
const web = (more: object = {}) =>
  JSON.stringify([
    { kind: "deployment", scope: "shop", name: "web", spec: { build: { context: "." }, stop_grace: "1s", ...more } },
  ]);
const spec = Buffer.from(
  JSON.stringify({ build: { context: "services/web", dockerfile: "" }, env: { A: "1" } }),
).toString("base64");
const manifests = "-f - --format json";
const page = async () => {
  const [pod] = await berth.pods("shop", "web");
  return berth.docker(["exec", pod?.name ?? "", "cat", "/page"]).trim();
};
const builds = async () =>
  ((await berth.call("GET", "/builds?scope=shop&name=web")).body.data as unknown as { builds: Build[] }).builds;

describe("an app whose source comes over ssh", () => {
  test("waits for its image, and says which command builds it", async () => {
    expect(JSON.parse(await good(`diff ${manifests} -o json`, { stdin: web() }))).toMatchObject({
      status: "ok",
      data: { dry_run: true, current: [null], applied: [{ name: "web", spec: { build: { context: "." } } }] },
    });
    expect(await far(`diff ${manifests} --detailed-exitcode`, { stdin: web() })).toMatchObject({ code: 2 });
    const events = eventsOf(await good(`apply ${manifests}`, { stdin: web(), events: true }));
    expect(events[0]).toMatchObject({ type: "hello", protocol: "ndjson/1" });
    expect(events).toContainEqual(
      expect.objectContaining({ type: "result", kind: "deployment", scope: "shop", name: "web", action: "created" }),
    );
    expect(events.at(-1)).toMatchObject({ type: "summary" });
    await berth.tells("shop/web", "is not built yet", `${berth.prefix} apply -f FILE`);
    const late = [
      { kind: "deployment", scope: "late", name: "web", spec: { build: {}, rollout: { progress_deadline: "1s" } } },
    ];
    await good(`apply ${manifests}`, { stdin: JSON.stringify(late) });
    const conditions = async () => JSON.stringify((await berth.status("deployment", "late", "web")).conditions);
    await waitFor("the deadline", async () => (await conditions()).includes("ProgressDeadline"));
    expect((await berth.cli(["status"])).exitCode).toBe(1);
    await good("delete late --prune");
  });

  test("takes the image of receive-pack, and the next one with the next apply", async () => {
    const events = eventsOf(
      await good(`receive-pack shop/web --spec=${spec}`, { stdin: await source("one"), events: true }),
    );
    expect(events.map(({ type, id, status }) => [type, id, status].filter(Boolean).join(" "))).toEqual(
      expect.arrayContaining([
        "hello",
        "step_start receive",
        "step_end receive ok",
        "step_start build",
        "step_end build ok",
      ]),
    );
    expect(events).toContainEqual(expect.objectContaining({ type: "log", text: expect.stringContaining(".env") }));
    await berth.ready("deployment", "shop", "web");
    expect(await page()).toBe("one");
    const latest = () => berth.docker(["image", "inspect", "-f", "{{.Id}}", "shop-web:latest"]).trim();
    const [first] = await builds();
    expect(latest()).toBe(first?.image_id ?? "");
    expect(await good(`diff ${manifests}`, { stdin: web() })).not.toContain("build");
    // Of the stored manifest, without a spec; an older client reads the banners.
    expect(await good("receive-pack shop/web", { stdin: await source("two") })).toContain("-----> Building\n");
    expect(await page()).toBe("one");
    expect(await good(`apply ${manifests}`, { stdin: web() })).toContain("deployment/shop/web updated");
    await berth.ready("deployment", "shop", "web");
    expect(await page()).toBe("two");
    // The same source again, after another: it is what the next apply means.
    await good(`receive-pack shop/web --spec=${spec}`, { stdin: await source("one") });
    await good(`apply ${manifests} --force`, { stdin: web() });
    await berth.ready("deployment", "shop", "web");
    expect([await page(), latest()]).toEqual(["one", first?.image_id ?? ""]);
    expect(await good(`apply ${manifests}`, { stdin: web() })).toContain("deployment/shop/web unchanged");
  });

  test("a build that fails, and what is no source, say why and leave nothing", async () => {
    const broken = await archive({ Dockerfile: "FROM berth-fixture:1\nRUN echo no luck; exit 3\n" });
    const failed = await far("receive-pack shop/web", { stdin: broken, events: true });
    expect(failed).toMatchObject({ code: 1, err: expect.stringContaining("failed") });
    expect(eventsOf(failed.out).at(-1)).toMatchObject({
      type: "step_end",
      id: "build",
      status: "fail",
      error: expect.any(String),
    });
    for (const [stdin, text] of [
      ["", "no source came on stdin"],
      ["junk", "the archive is broken"],
    ] as const)
      expect(await far("receive-pack shop/web", { stdin })).toMatchObject({
        code: 1,
        err: expect.stringContaining(text),
      });
    expect(readdirSync(folder).filter((name) => name.startsWith("berth-receive."))).toEqual([]);
  });

  test("a Procfile is built and applied, with its routes", async () => {
    const stdin = await archive({
      Dockerfile: "FROM berth-fixture:1\n",
      Procfile: "# processes\nhttp: trap exit TERM; sleep 1000000 & wait\nrelease: true\n",
    });
    const out = await good("receive-pack --procfile=proc --force", { stdin });
    expect(out).toContain("deployment/proc/http created");
    expect(out).toContain("job/proc/release created");
    await berth.ready("deployment", "proc", "http");
    await good("delete proc --prune");
  });
});

describe("every other word", () => {
  test("config, with the shapes that client reads", async () => {
    await good("config shop/web set GREETING=hello DASH=- --no-restart");
    expect(await good("config shop/web")).toBe("DASH=-\nGREETING=hello\n");
    expect(JSON.parse(await good("config shop/web get -o json"))).toEqual({ DASH: "-", GREETING: "hello" });
    expect(await good("config shop/web get greet")).toBe("GREETING=hello\n");
    expect(await far("config shop/web get nothing")).toMatchObject({
      code: 1,
      err: expect.stringContaining("no key holds"),
    });
    await good("config shop/web unset DASH --no-restart");
    expect(await good("config shop/web -o hcl")).toBe('env = {\n  GREETING = "hello"\n}\n');
    expect(await good("config shop set A=1 --no-restart")).toContain("A");
  });

  test("what reads", async () => {
    await good(`apply ${manifests} --force`, { stdin: web() });
    await berth.ready("deployment", "shop", "web");
    const [pod] = await berth.pods("shop", "web");
    const replica = `shop/web.${pod?.replica_id}`;
    expect(JSON.parse(await good("get pods -o json"))).toMatchObject({ pods: [{ scope: "shop" }], degraded: [] });
    expect(JSON.parse(await good("describe deployment shop/web -o json"))).toMatchObject({
      manifest: { name: "web" },
      status: {},
      pods: [{}],
    });
    expect(JSON.parse(await good("stats -o json"))).toBeArray();
    for (const line of [
      ...[
        "get pods",
        "get pods -k deployment",
        "get pods -k job",
        "get pods -s shop -n web",
        "get pod shop/web",
        `get pd ${replica}`,
      ],
      ...[
        "describe deployment shop/web",
        "desc deployment web",
        "describe deployment shop/web -o spec",
        `describe pod ${replica}`,
      ],
      ...[
        "describe deployment shop/web -o yaml",
        `describe pod ${pod?.name} --show-env`,
        "stats",
        "stats shop/web",
        "stats --orphans",
      ],
      ...[
        "logs shop/web",
        `logs ${replica} -t 5`,
        `logs ${pod?.name}`,
        "logs shop --tail 0",
        "release shop/web",
        "re web history",
      ],
      ...["plugins", "plugins list", "version", "--version", "--help", "apply --help"],
    ])
      await good(line);
  });

  test("what runs something", async () => {
    const [pod] = await berth.pods("shop", "web");
    expect(await good("exec shop/web cat /page")).toBe("one\n");
    expect(await good("exec shop/web -- ls -d -l /tmp")).toContain("/tmp");
    expect(await good(`exec --container ${pod?.name} echo a:b`)).toBe("a:b\n");
    expect(await good("run shop/web echo db:migrate")).toBe("db:migrate\n");
    expect(await far("exec shop/web -e A=1,B=2 -- sh -c exit\\ 7")).toMatchObject({ code: expect.any(Number) });
    const jobs = ["true", "false"].map((command) => ({
      ...{ kind: "job", scope: "shop", name: command },
      spec: { image: "berth-fixture:1", command: ["sh", "-c", `echo said; ${command}`] },
    }));
    await good(`apply ${manifests}`, { stdin: JSON.stringify(jobs) });
    await good("run shop/true");
    expect((await far("run shop/false")).code).toBe(1);
  });

  test("what replaces, stops and starts", async () => {
    await good("restart web -k deployment");
    expect(await far("stop shop")).toMatchObject({ code: 1, err: expect.stringContaining("whole scope") });
    const [pod] = await berth.pods("shop", "web");
    await good(`stop shop/web.${pod?.replica_id}`);
    await good(`start shop/web.${pod?.replica_id}`);
    await waitFor("it to run again", async () => (await berth.pods("shop", "web")).some(({ ready }) => ready));
    await good("stop shop/web --no-freeze");
    await berth.ready("deployment", "shop", "web");
    await good("rollback shop/web");
    expect(await far("rollback shop/web r0")).toMatchObject({ code: 1 });
    await berth.ready("deployment", "shop", "web");
  });

  test("a release command that fails ends the apply with 1, and the version before goes on", async () => {
    const release = (command: string, version: string) =>
      web({ release: { command: ["sh", "-c", command] }, env: { VERSION: version } });
    expect(await good(`apply ${manifests}`, { stdin: release("echo migrated", "2"), events: true })).toContain(
      "migrated",
    );
    // No container changes: nothing is released.
    expect(await good(`apply ${manifests}`, { stdin: release("echo again", "2"), events: true })).not.toContain(
      "again",
    );
    expect(await good("release shop/web run")).toContain("again");
    const failed = await far(`apply ${manifests}`, { stdin: release("echo no luck; exit 9", "3"), events: true });
    expect(failed).toMatchObject({
      code: 1,
      err: expect.stringContaining("the release of shop/web failed; the version before it goes on"),
    });
    const first = { image: "berth-fixture:1", release: { command: ["false"] } };
    const stdin = JSON.stringify([{ kind: "deployment", scope: "first", name: "web", spec: first }]);
    expect(await far(`apply ${manifests}`, { stdin })).toMatchObject({
      code: 1,
      err: expect.stringContaining("the release of first/web failed; no version of first/web was good before"),
    });
    await good("delete first");
    expect(eventsOf(failed.out)).toContainEqual(
      expect.objectContaining({ type: "step_end", id: "release", status: "fail" }),
    );
  });

  test("delete in all forms, without a question", async () => {
    expect(await good("delete shop/true --dry-run")).toContain("shop/true");
    await good("delete shop/true");
    expect(await good("delete shop/true")).toContain("not there");
    await good(`delete ${manifests}`, { stdin: web() });
    await good(`delete ${manifests} --prune`, { stdin: web() });
    await good("delete shop --prune");
    expect(await berth.pods("shop")).toEqual([]);
  });

  test("what is wrong says so, with 1", async () => {
    for (const [line, text] of [
      ["apply -f - --format json", "no manifest"],
      ["apply -f missing.hcl", "missing.hcl"],
      ["describe deployment shop/none", "none"],
      ["logs shop/none", "none"],
      ["config", "say which"],
      ["rollback shop/none", "none"],
    ] as const)
      expect([line, await far(line, { stdin: "[]" })]).toMatchObject([
        line,
        { code: 1, err: expect.stringContaining(text) },
      ]);
    expect(await far("nonsense")).toMatchObject({
      code: 2,
      err: expect.stringContaining('unknown command "nonsense"'),
    });
    const away = { env: { BERTH_ENDPOINT: "unix:/nowhere.sock" } };
    expect(await far("get pods", away)).toMatchObject({ code: 1, err: expect.stringContaining("cannot reach") });
  });
});
