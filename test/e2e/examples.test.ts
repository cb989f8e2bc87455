import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { fixtureImage } from "../support/docker.ts";
import { docker } from "../support/dockerd.ts";
import { type HookReceiver, startReceiver } from "../support/webhook-receiver.ts";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

const checkout = join(import.meta.dir, "../..");
/** What the examples name; `install.sh --demo` makes it from busybox, as the test run makes the fixture. */
const image = "berth-demo/hello:1";

describe("every example, applied through the executable on a real engine", () => {
  let berth: Rig;
  let receiver: HookReceiver | undefined;
  beforeAll(async () => {
    berth = await rig({ flags: ["--allow-private-hooks"] });
    berth.docker(["tag", fixtureImage, image]);
  });
  afterEach(async () => {
    await receiver?.stop();
    receiver = undefined;
    const { exitCode, stderr } = await berth.cli(["delete", "demo", "--prune", "-y"]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  });
  afterAll(async () => {
    await berth?.close();
    if (berth !== undefined) docker(berth.dockerHost, ["rmi", image]);
  });

  test("manifests of another controller with this contract, under each name of HCL: diff, apply, delete", async () => {
    const folder = "test/support/drop-in";
    const env = { IMAGE: image, API_PORT: String(await freePort()) };
    const planned = await berth.cli(["diff", "-f", folder, "--detailed-exitcode"], { cwd: checkout, env });
    expect(planned).toMatchObject({ exitCode: 2 });
    // The context of the build is below the working directory, as that controller's client has it.
    const cwd = join(checkout, folder);
    const applied = await berth.cli(["apply", "-f", ".", "-y", "--no-wait", "-o", "json"], { cwd, env });
    expect({ code: applied.exitCode, err: applied.stderr }).toMatchObject({ code: 0 });
    const files = readdirSync(cwd, { withFileTypes: true }).filter((item) => item.isFile());
    expect(files.map(({ name }) => extname(name)).filter((end, at, all) => all.indexOf(end) === at)).toHaveLength(5);
    const kinds = JSON.parse(applied.stdout).data.applied.map(({ kind }: { kind: string }) => kind);
    expect(
      Object.fromEntries([...Map.groupBy(kinds, (kind) => kind)].map(([kind, all]) => [kind, all.length])),
    ).toEqual({
      asset: 4,
      cronjob: 1,
      deployment: 5,
      ingress: 4,
      job: 1,
      registry: 2,
      statefulset: 1,
    });
    for (const { name } of files) {
      const gone = await berth.cli(["delete", "-f", name, "-y", "--prune"], { cwd, env });
      expect({ name, code: gone.exitCode, err: gone.stderr }).toMatchObject({ code: 0 });
    }
    expect(await berth.cli(["get", "-o", "name"])).toMatchObject({ exitCode: 0, stdout: "" });
  });

  async function succeeds(args: string[], env: Record<string, string> = {}): Promise<string> {
    const { exitCode, stdout, stderr } = await berth.cli(args, { cwd: checkout, env });
    expect({ args, exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({ args, exitCode: 0, stderr: "" });
    return stdout;
  }
  const apply = (name: string, env = {}) => succeeds(["apply", "-f", `examples/${name}`, "-y"], env);
  const page = async (name: string) => {
    const [pod] = await berth.pods("demo", name);
    const address = berth.docker(["port", String(pod?.name), "8080"]).trim();
    return (await fetch(`http://${address}/`)).text();
  };

  const examples: Record<string, () => Promise<void>> = {
    hello: async () => {
      await apply("hello");
      expect(await page("hello")).toContain("<h1>Hello from berth</h1>");
    },
    deploy: async () => {
      await apply("deploy");
      expect(await page("web")).toContain("Change this line");
      expect(await succeeds(["releases", "demo/web"])).toContain("succeeded");
    },
    ingress: async () => {
      await apply("ingress");
      const described = await succeeds(["describe", "ingress", "demo/shop-api"]);
      expect(described).toContain("shop.localhost");
    },
    front: async () => {
      const port = await freePort();
      const env = { FRONT_PORT: `${port}` };
      await apply("front", env);
      const answer = () => fetch(`http://127.0.0.1:${port}/`).then((it) => it.text());
      expect(await answer()).toContain("Behind a proxy");
      await succeeds(["restart", "demo/front"]);
      expect(await answer()).toContain("Behind a proxy");
    },
    database: async () => {
      await apply("database");
      const starts = async (ordinal: string) =>
        (await succeeds(["exec", `demo/database.${ordinal}`, "--", "cat", "/data/starts"])).trim().split("\n").length;
      expect(await starts("0")).toBe(1);
      berth.docker(["rm", "-f", "demo-database.0"]);
      await waitFor("another container on the same volume", async () => {
        const pods = await berth.pods("demo", "database");
        return pods.length === 2 && pods.every(({ ready }) => ready);
      });
      expect([await starts("0"), await starts("1")]).toEqual([2, 1]);
    },
    config: async () => {
      await succeeds(["config", "set", "demo/shared", "PASSWORD=secret"]);
      await apply("config");
      const says = async (text: string) => {
        await waitFor(`the worker to say "${text}"`, async () => {
          const [pod] = await berth.pods("demo", "worker");
          return JSON.stringify((await berth.call("GET", `/pods/${pod?.name}/logs`)).body).includes(text);
        });
        expect(await succeeds(["logs", "demo/worker"])).toContain(text);
      };
      const store = (port: number) => `as worker of store.demo.${berth.prefix}:${port}`;
      await says(`${store(8080)}, with a password of 6 letters`);
      await succeeds(["config", "set", "demo/shared", "PASSWORD=another"]);
      await says(`${store(8080)}, with a password of 7 letters`);
      const [pod] = await berth.pods("demo", "worker");
      expect(berth.docker(["exec", String(pod?.name), "sh", "-c", "wget -qO- http://$STORE"]).trim()).toBe("stored");
      const file = readFileSync(join(checkout, "examples/config/config.yaml"), "utf8");
      const moved = join(berth.root, "moved.yaml");
      writeFileSync(moved, file.replace('ports: ["8080"]', 'ports: ["8081", "8080"]'));
      await succeeds(["apply", "-f", moved, "-y"]);
      await says(store(8081));
    },
    autoscale: async () => {
      await apply("autoscale");
      // Some samples, over some time, have to agree first.
      const events = async () => JSON.stringify((await berth.call("GET", "/events?scope=demo&name=busy")).body);
      await waitFor("a step up", async () => (await events()).includes("autoscale.up"), 50_000);
      expect(await succeeds(["events", "demo/busy"])).toContain("autoscale.up");
    },
    hooks: async () => {
      receiver = startReceiver();
      await apply("hooks", { HOOK_URL: `${receiver.url}/in` });
      const calls = () => receiver?.received ?? [];
      await waitFor("the call for the rollout", () => calls().length === 1);
      await succeeds(["exec", "demo/told", "--", "rm", "/tmp/ready"]);
      await waitFor("the call for the probe", () => calls().length === 2);
      expect(calls().every(({ headers }) => headers[`x-${berth.prefix}-signature`] !== undefined)).toBe(true);
    },
    job: async () => {
      await apply("job");
      expect(await succeeds(["run", "demo/report"])).toContain("report for everybody");
    },
    cron: async () => {
      await apply("cron");
      expect(await succeeds(["cron", "list"])).toContain("nightly");
      expect(await succeeds(["cron", "run", "demo/nightly"])).toContain("done");
    },
  };

  /** Takes its own time and images: stack.test.ts. */
  const elsewhere = ["stack"];

  for (const name of readdirSync(join(checkout, "examples"))) {
    if (elsewhere.includes(name)) continue;
    test(name, async () => {
      const check = examples[name];
      if (check === undefined) throw new Error(`examples/${name} is applied by no test: add it above`);
      await check();
    });
  }
});
