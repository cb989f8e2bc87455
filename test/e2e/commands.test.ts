import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { berth as run } from "../support/executable.ts";
import { deployment, statefulset } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";

setDefaultTimeout(60_000);

/** The other verbs on a running installation, and what a wrong line ends with. */
describe("the command line", () => {
  let berth: Rig;
  beforeAll(async () => {
    berth = await rig();
    await berth.apply(
      deployment("shop", "web", { replicas: 2, env: { LEVEL: "debug" } }),
      statefulset("shop", "db", { volume_claims: [{ name: "disk", mount_path: "/disk" }] }),
      { kind: "job", scope: "shop", name: "migrate", spec: { image: "berth-fixture:1", command: ["true"] } },
    );
    await berth.ready("deployment", "shop", "web");
    await berth.ready("statefulset", "shop", "db");
  });
  afterAll(() => berth?.close());

  const text = async (...line: string[]) => {
    const { exitCode, stdout, stderr } = await berth.cli(line);
    expect({ line, exitCode, stderr }).toEqual({ line, exitCode: 0, stderr: "" });
    return stdout;
  };
  /** Columns are two blanks or more apart. */
  const cells = (table: string) =>
    table
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}/));

  test("get: a table per kind, of one kind, of the pods", async () => {
    const all = await text("get");
    expect(all.match(/^\w+$/gm)).toEqual(["deployment", "statefulset", "job"]);
    expect(cells(await text("get", "deployments"))).toEqual([
      ["NAME", "STATUS", "READY", "IMAGE", "AGE"],
      ["shop/web", "ready", "2/2", "berth-fixture:1", expect.stringMatching(/^\d+[sm]$/)],
    ]);
    expect(cells(await text("get", "deployment", "shop/web"))).toHaveLength(2);
    const pods = cells(await text("get", "pods", "shop/db"));
    expect(pods[1]?.slice(0, 3)).toEqual(["shop-db.0", "statefulset", "running, ready"]);
    for (const [words, said] of [
      [["deploymnts"], 'did you mean "deployments"?'],
      [["pods", "nobody"], 'no scope "nobody"'],
    ] as const) {
      const { exitCode, stderr } = await berth.cli(["get", ...words]);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining(said)]);
    }
  });

  test("describe: state, conditions, pods, volumes and spec; environment values as digests", async () => {
    const web = await text("describe", "shop/web");
    expect(web).toMatch(/^deployment\/shop\/web {2}ready\n/);
    expect(web).toMatch(/replicas +2 of 2 ready, 2 up to date/);
    expect(web).toMatch(/\nReady +yes +ReplicasReady /);
    expect(web).toMatch(/LEVEL: "#\w{8}"/);
    expect(await text("describe", "shop/web", "--reveal")).toContain("LEVEL: debug");
    expect(await text("describe", "shop/db")).toContain(`volumes\n  ${berth.prefix}-shop-db-disk-0\n`);
    expect(await text("describe", "pod", "shop/db.0")).toMatch(/^shop-db\.0\n/);
    expect(await text("describe", "job", "shop/migrate")).toMatch(/^job\/shop\/migrate /);
  });

  test("events: who did what to which resource and why", async () => {
    const rows = cells(await text("events", "shop/web"));
    expect(rows[0]).toEqual(["TIME", "WHO", "WHAT", "ON", "DETAIL"]);
    expect(rows[1]?.slice(1)).toEqual(["operator", "manifest.apply", "deployment/shop/web", "outcome=created"]);
    expect(rows[2]?.slice(1, 4)).toEqual(["reconciler", "replica.create", "deployment/shop/web"]);
    await text("config", "set", "shop/web", "KEY=value", "--no-restart");
    const [, who, what, , detail] = cells(await text("events", "shop", "-n", "1"))[1] ?? [];
    expect(who).toMatch(/^.+@.+$/);
    expect([what, detail]).toEqual(["config.set", "keys=KEY restart=false"]);
  });

  test("config: set rolls what reads it, list hides, get tells", async () => {
    const before = (await berth.pods("shop", "web")).map(({ name }) => name);
    expect(await text("config", "set", "shop/web", "MODE=fast")).toBe(
      "set MODE on shop/web\nrestarting deployment/shop/web\nthe restart goes on; follow it: berth get pods shop/web -w\n",
    );
    await berth.ready("deployment", "shop", "web");
    const after = (await berth.pods("shop", "web")).map(({ name }) => name);
    expect(after.some((name) => before.includes(name))).toBe(false);
    expect(await text("config", "list", "shop/web")).not.toContain("fast");
    expect(await text("config", "get", "shop/web", "MODE")).toBe("fast\n");
    const piped = await berth.cli(["config", "set", "shop/web", "TOKEN=-", "--no-restart"], { stdin: "from stdin\n" });
    expect(piped.stdout).toBe("set TOKEN on shop/web\n");
    expect(await text("config", "get", "shop/web", "TOKEN")).toBe("from stdin\n");
    await text("config", "unset", "shop/web", "TOKEN", "--no-restart");
    expect((await berth.cli(["config", "get", "shop/web", "TOKEN"])).exitCode).toBe(1);
  });

  test("restart replaces every replica and waits", async () => {
    const before = (await berth.pods("shop", "web")).map(({ name }) => name);
    const { exitCode, stdout, stderr } = await berth.cli(["restart", "shop/web"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "restarting deployment/shop/web\n" });
    expect(stderr).toEndWith("✓ deployment/shop/web is ready (2/2)\n");
    const after = (await berth.pods("shop", "web")).map(({ name }) => name);
    expect(after.some((name) => before.includes(name))).toBe(false);
  });

  test("delete needs -y without a terminal, and says what stays", async () => {
    await berth.apply(deployment("gone", "web"));
    await berth.ready("deployment", "gone", "web");
    for (const flags of [[], ["--prune"]]) {
      const refused = await berth.cli(["delete", "gone/web", ...flags]);
      expect([refused.exitCode, refused.stderr]).toEqual([5, expect.stringContaining("add -y")]);
    }
    expect(await berth.pods("gone", "web")).toHaveLength(1);
    expect(await text("delete", "gone/web", "-y")).toContain("config, files and volumes stay");
    const again = await berth.cli(["delete", "gone/web"]);
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("is not there")]);
  });

  test("version and doctor", async () => {
    expect(await text("version")).toMatch(/^client {2}\d.*\nserver {2}\d.*\n$/);
    const doctor = await run(["doctor", ...doctorFlags(berth)]);
    expect(doctor.exitCode).toBe(0);
    expect(doctor.stdout).toMatch(/^ok +docker +[\d.]+/);
    expect(doctor.stdout).toMatch(/\nok +server +version /);
    const json = JSON.parse((await run(["doctor", ...doctorFlags(berth), "-o", "json"])).stdout);
    expect(json.data.checks.map(({ status }: { status: string }) => status)).not.toContain("fail");
    const broken = await run(["doctor", "--root", berth.root, "--docker-host", "unix:///nowhere.sock", "--addr", ""]);
    expect(broken.exitCode).toBe(1);
    expect(broken.stdout).toMatch(/^fail +docker .*\n +to fix: /);
  });

  const wrong: [string[], number, string][] = [
    [["aply", "-f", "x"], 2, 'unknown command "aply": did you mean "apply"?'],
    [["apply"], 2, "say which manifests"],
    [["apply", "-f", "nowhere.yml"], 1, '"nowhere.yml" does not exist'],
    [["get", "--wide"], 2, 'unknown flag "--wide"'],
    [["get", "-o", "xml"], 2, 'no output format "xml"'],
    [["describe", "shop/none"], 1, 'nothing is called "shop/none"'],
    [["restart", "shop/none"], 1, "deployment/shop/none or statefulset/shop/none not found"],
    [["stop", "shop"], 2, "names a whole scope"],
    [["serve", "--bogus"], 2, 'unknown option "--bogus"'],
    [["serve", "--prefix", "Not Possible"], 1, 'prefix "Not Possible" is not possible'],
    [["serve", "--log-level", "loud"], 1, 'no log level "loud"'],
    [["backup"], 2, ""],
    [["backup", "x", "-o", "xml"], 2, 'no output format "xml"'],
    [["restore", "a", "b"], 2, ""],
    [["--endpoint", "http://127.0.0.1:1", "get"], 4, "nothing listens there"],
    [["--endpoint", "unix:/nowhere.sock", "get"], 4, "no such socket"],
  ];
  for (const [line, exitCode, told] of wrong) {
    test(`${line.join(" ")}: ${exitCode}`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "berth-wrong."));
      const ended = await berth.cli(line, { cwd: folder });
      rmSync(folder, { recursive: true });
      expect({ exitCode: ended.exitCode, bug: ended.stderr.includes("a bug in berth") }).toEqual({
        exitCode,
        bug: false,
      });
      expect(ended.stderr).toContain(told);
    });
  }
});

function doctorFlags({ root, dockerHost }: Rig): string[] {
  const planes = ["--addr", "--observability-addr", "--identity-addr", "--ingress-http-addr", "--ingress-https-addr"];
  const off = planes.flatMap((plane) => [plane, ""]);
  return ["--root", root, "--docker-host", dockerHost, ...off];
}
