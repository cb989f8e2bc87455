import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApplyResult } from "../../src/orchestration/api/apply.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

const sleeper = "image: berth-fixture:1, command: [sleep, '100000'], stop_grace: 1s, rollout: {min_ready: 0s}";
const web = (more = "") => `kind: deployment\nscope: shop\nname: web\nspec: {${sleeper}${more}}\n`;

/** apply and diff as an operator types them, down to the exit codes. */
describe("apply", () => {
  let berth: Rig;
  let folder: string;
  beforeAll(async () => {
    berth = await rig();
    folder = mkdtempSync(join(tmpdir(), "berth-e2e."));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await berth?.close();
  });
  afterEach(async () => {
    await berth.call("DELETE", "/scope?scope=shop&prune=true");
  });

  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return name;
  };
  const cli = (...args: string[]) => berth.cli(args, { cwd: folder });
  const apply = (text: string, ...more: string[]) => cli("apply", "-y", "-f", file("app.yml", text), ...more);
  const running = async () => (await berth.pods("shop", "web")).filter((pod) => pod.running).length;

  test("shows the plan, tells progress on stderr, waits, and ends with 0 when it is ready", async () => {
    const first = await apply(web(", replicas: 2"));
    expect(first.exitCode).toBe(0);
    expect(first.stdout).toBe(
      "+ deployment/shop/web\n    starts 2 replicas: 2 replicas are wanted, 0 exist\n\n1 to create\n\napplied 1 resource\n",
    );
    expect(first.stderr).toContain("deployment/shop/web: 0/2 ready; creating 2\n");
    expect(first.stderr).toEndWith("✓ deployment/shop/web is ready (2/2)\n");
    expect(await running()).toBe(2);

    const again = await apply(web(", replicas: 2"));
    expect(again).toEqual({
      exitCode: 0,
      stdout: "= deployment/shop/web\n\nno changes\n",
      stderr: "✓ deployment/shop/web is ready (2/2)\n",
    });

    const changed = await apply(web(", replicas: 2, env: {LEVEL: debug}"));
    expect(changed.stdout).toMatch(/^~ deployment\/shop\/web\n {4}env.LEVEL +– +→ #\w{8}\n {4}replaces 2 replicas /);
    expect(changed.stderr).toContain("updated");
    expect(changed.exitCode).toBe(0);
  });

  test("an image that cannot be had ends with 1 and the reason, and says where to look", async () => {
    const { exitCode, stderr } = await apply(web().replace("berth-fixture:1", "127.0.0.1:1/none:1"));
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /✗ deployment\/shop\/web is not ready: ImagePull: cannot pull image "127.0.0.1:1\/none:1": /,
    );
    expect(stderr).toMatch(/\n {2}see: berth \w+ .*shop\/web\n/);
    expect(stderr).not.toContain("HTTP code");
  });

  test("waits for the commands of a release, and ends with 1 when one fails", async () => {
    const release = (level: string, script: string) =>
      web(`, env: {LEVEL: ${level}}, release: {command: [sh, -c, '${script}']}`);
    expect((await apply(release("info", "exit 0"))).exitCode).toBe(0);
    const failed = await apply(release("debug", "sleep 2; exit 7"));
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).toMatch(/release \S+ failed: failed in command \(exit 7\)/);
    expect((await berth.pods("shop", "web")).filter((pod) => pod.running)).toHaveLength(1);
  });

  test("--timeout ends with 3 and what it waits for; --no-wait does not look", async () => {
    const slow = web().replace("min_ready: 0s", "min_ready: 10m");
    const late = await apply(slow, "--timeout", "1500ms");
    expect(late.exitCode).toBe(3);
    expect(late.stderr).toMatch(
      /✗ deployment\/shop\/web is not ready after 1s: .*waiting for shop-web\.\w{5}; the server goes on/,
    );
    const quick = await apply(slow.replace("10m", "11m"), "--no-wait");
    expect(quick).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("-o json is the envelope alone, also for what fails", async () => {
    const applied = await apply(web(), "-o", "json");
    const envelope = JSON.parse(applied.stdout);
    expect(envelope).toMatchObject({
      status: "ok",
      data: { pruned: [], applied: [{ kind: "deployment", name: "web" }] },
    });
    const wrong = await apply("kind: deployment\nname: web\nspec: {}\n", "-o", "json");
    expect(wrong).toMatchObject({ exitCode: 1, stderr: "" });
    expect(JSON.parse(wrong.stdout)).toMatchObject({ status: "error", error: expect.stringContaining("scope") });
    for (const line of [
      ["get"],
      ["get", "pods"],
      ["describe", "shop/web"],
      ["events"],
      ["config", "list", "shop"],
      ["stop", "shop/web"],
      ["start", "shop/web"],
      ["restart", "shop/web", "--no-wait"],
      ["version"],
      ["delete", "shop/web", "-y"],
    ]) {
      const { stdout } = await cli(...line, "-o", "json");
      expect({ line, status: JSON.parse(stdout).status, fields: Object.keys(JSON.parse(stdout)) }).toEqual({
        line,
        status: "ok",
        fields: ["status", "data"],
      });
    }
  });

  test("diff changes nothing; --detailed-exitcode tells by 0, 2 and 1", async () => {
    const diff = (...more: string[]) => cli("diff", "-f", "app.yml", "--detailed-exitcode", ...more);
    file("app.yml", web());
    expect(await diff()).toMatchObject({ exitCode: 2, stdout: expect.stringContaining("+ deployment/shop/web") });
    expect((await berth.call("GET", "/apply?scope=shop")).body.data as unknown).toEqual([]);
    await apply(web());
    expect(await diff()).toMatchObject({ exitCode: 0, stdout: "= deployment/shop/web\n\nno changes\n" });
    file("app.yml", web(", replicas: 3"));
    expect(await diff()).toMatchObject({ exitCode: 2, stdout: expect.stringMatching(/replicas +– +→ 3/) });
    expect((await cli("diff", "-f", "app.yml")).exitCode).toBe(0);
    file("app.yml", web(", replicass: 3"));
    expect(await diff()).toMatchObject({ exitCode: 1, stdout: "" });
    expect(await running()).toBe(1);
  });

  test("faults are shown in the file: of the syntax by the client, of the content by the server, all at once", async () => {
    const syntax = await apply("kind: deployment\nspec: [\n");
    expect(syntax).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringMatching(/^app\.yml:3:1: /) });
    const content = await apply(
      'kind: deployment\nscope: shop\nname: web\nspec:\n  image: a:1\n  replicas: "3"\n  ports: 80\n  imagee: x\n',
    );
    expect(content.exitCode).toBe(1);
    expect(content.stderr).toBe(
      [
        'app.yml:6:13: spec.replicas: expected integer, got string "3"; write 3 without quotes',
        '  6 |   replicas: "3"',
        "    |             ^^^",
        "",
        "app.yml:7:10: spec.ports: expected array, got integer 80",
        "  7 |   ports: 80",
        "    |          ^^",
        "",
        'app.yml:8:3: spec.imagee: unknown field; did you mean "image"',
        "  8 |   imagee: x",
        "    |   ^^^^^^",
        "",
      ].join("\n"),
    );
    const second = await apply(`${web()}---\nkind: deploymant\nscope: shop\nname: x\nspec: {}\n`);
    expect(second.stderr).toMatch(/^app\.yml:6:7: kind: "deploymant" is not a kind; did you mean "deployment"/);
    expect((await berth.call("GET", "/apply?scope=shop")).body.data as unknown).toEqual([]);
  });

  test("prune deletes the siblings that the files do not have", async () => {
    await apply(`${web()}---\n${web().replace("name: web", "name: old")}`);
    const pruned = await apply(web(), "--prune");
    expect(pruned.stdout).toContain("- deployment/shop/old");
    expect(pruned.stdout).toContain("1 to delete, 1 unchanged\n\ndeleted 1 resource\n");
    await waitFor("the old one to go", async () => (await berth.pods("shop", "old")).length === 0);
    expect(await running()).toBe(1);
  });

  test("two that race: each is stored whole, the last acknowledged counts, both are in the events", async () => {
    const both = (mark: string) =>
      ["one", "two", "three"].map((name) => ({
        kind: "deployment",
        scope: "shop",
        name,
        spec: { image: "berth-fixture:1", replicas: 0, env: { MARK: mark } },
      }));
    const acknowledged: string[] = [];
    await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const mark = `racer-${index}`;
        expect((await berth.apply(...both(mark))).status).toBe(200);
        acknowledged.push(mark);
      }),
    );
    const { body } = await berth.call("GET", "/apply?scope=shop");
    const stored = body.data as unknown as ApplyResult["applied"];
    const marks = new Set(stored.map(({ spec }) => (spec.env as { MARK: string }).MARK));
    expect([...marks]).toHaveLength(1);
    // Answers of one commit may overtake each other on the way; the stored one is of the last commit.
    expect(acknowledged).toContain([...marks][0] ?? "");
    const events = await berth.call("GET", "/events?scope=shop&name=one&limit=1000");
    const applies = (events.body.data as unknown as { events: { action: string }[] }).events.filter(
      ({ action }) => action === "manifest.apply",
    );
    expect(applies.length).toBeGreaterThanOrEqual(12);
  });

  test("one that was overtaken between plan and apply is refused, with if_revision", async () => {
    await apply(web());
    const stale = {
      kind: "deployment",
      scope: "shop",
      name: "web",
      spec: { replicas: 0 },
      metadata: { if_revision: 1 },
    };
    const refused = await berth.apply(stale as never);
    expect(refused.status).toBe(409);
    expect(refused.body.error).toContain("look again and re-apply");
    expect(await running()).toBe(1);
  });

  test("an imported Compose file runs: names resolve, a one-shot service comes first, folders are there", async () => {
    mkdirSync(join(folder, "site"));
    file("site/index.html", "hello");
    const fixture = "image: berth-fixture:1\n    stop_grace_period: 1s\n    ";
    const compose = `services:
  db:
    ${fixture}command: httpd -f -p 8000 -h /site
    volumes: ["./site:/site"]
  migrate:
    ${fixture}restart: "no"
    command: sh -c "wget -q -O /data/schema http://db:8000/index.html"
    volumes: ["./data:/data"]
    depends_on: {db: {condition: service_started}}
  web:
    ${fixture}command: sleep 100000
    volumes: ["./data:/data"]
    depends_on: {migrate: {condition: service_completed_successfully}}
    healthcheck: {test: "grep -q hello /data/schema && wget -q -O - http://db:8000/ | grep -q hello", interval: 1s}
`;
    file("compose.yaml", compose);
    const env = { BERTH_PREFIX: berth.prefix };
    const imported = await berth.cli(["import", "compose", "--scope", "shop"], { cwd: folder, env });
    expect(imported.stderr).toEndWith("everything carries over\n");
    const applied = await apply(imported.stdout);
    expect(applied.stderr).toContain("✓ deployment/shop/web is ready (1/1)\n");
    expect(applied.exitCode).toBe(0);
  });
});
