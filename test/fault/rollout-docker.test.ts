import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Manifest, Spec } from "../../src/orchestration/api/manifest.ts";
import type { Release } from "../../src/orchestration/api/releases.ts";
import { type Dockerd, startDockerd } from "../support/dockerd.ts";
import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(120_000);

const kills = Number(process.env.BERTH_TEST_KILLS ?? 3);
const perKillMs = 90_000;
const rollout = { min_ready: "500ms", drain: "1s", progress_deadline: "60s" };

async function releasesOf(berth: Rig, name: string): Promise<Release[]> {
  const { body } = await berth.call("GET", `/releases?scope=roll&name=${name}`);
  return (body.data as unknown as { releases: Release[] } | undefined)?.releases ?? [];
}

/** Containers of a resource as Docker itself sees them: `V=… state`, sorted. */
function seen(berth: Rig, name: string): string[] {
  const filter = ["--filter", `label=${berth.prefix}.scope=roll`, "--filter", `label=${berth.prefix}.name=${name}`];
  const ids = berth
    .docker(["ps", "-aq", "--no-trunc", ...filter])
    .split("\n")
    .filter(Boolean);
  if (ids.length === 0) return [];
  const format = "{{.State.Status}}{{range .Config.Env}} {{.}}{{end}}";
  return berth
    .docker(["inspect", "--format", format, ...ids])
    .split("\n")
    .map((line) => {
      const [state = "", ...env] = line.split(" ");
      return `${env.find((entry) => entry.startsWith("V="))} ${state}`;
    })
    .sort();
}

const runs = (berth: Rig, name: string, version: string, count: number) =>
  waitFor(
    `${count} of ${name} at ${version}`,
    () => {
      const now = seen(berth, name);
      if (now.join() !== Array.from({ length: count }, () => `V=${version} running`).join())
        throw new Error(now.join());
      return true;
    },
    perKillMs,
  );

describe("kill -9 of the server", () => {
  let berth: Rig;
  beforeAll(async () => {
    berth = await rig();
  });
  afterAll(() => berth?.close(), 60_000);

  test(
    `at ${kills} moments of rollouts: each ends at what was written last, no replica is doubled, no release is left open`,
    async () => {
      const app = (v: number) => deployment("roll", "web", { replicas: 3, rollout, env: { V: `${v}` } });
      for (let round = 0; round < kills; round++) {
        expect((await berth.apply(app(round))).status).toBe(200);
        await Bun.sleep(Math.random() * 6_000);
        await berth.stop("SIGKILL");
        await berth.start();
        // Half of the kills hit a server that is still busy with the last one.
        if (round % 2 === 0 && round !== kills - 1) continue;
        await runs(berth, "web", `${round}`, 3);
        await berth.ready("deployment", "roll", "web", perKillMs);
        const releases = await releasesOf(berth, "web");
        expect(releases[0]?.status).toBe("succeeded");
        expect(releases.every(({ status, ended_at }) => /succeeded|failed/.test(status) && ended_at)).toBe(true);
      }
    },
    kills * perKillMs,
  );

  test(
    `at ${kills} moments of release phases: no command has company, none that ended runs again`,
    async () => {
      // Each command takes the lock and says if somebody else has it; the volume outlives the containers.
      const guarded = (step: string) => [
        "sh",
        "-c",
        `mkdir /guard/lock || echo company >> /guard/faults; echo "$V ${step}" >> /guard/log; sleep 1; rmdir /guard/lock`,
      ];
      const volume = `${berth.prefix}-guard`;
      const block = { pre_command: guarded("pre"), command: guarded("main"), post_command: guarded("post") };
      const shared = { volumes: [`${volume}:/guard`], rollout: { ...rollout, strategy: "rolling" }, release: block };
      const app = (v: number) => deployment("roll", "phased", { replicas: 1, env: { V: `${v}` }, ...shared });
      for (let round = 0; round < kills; round++) {
        expect((await berth.apply(app(round))).status).toBe(200);
        await Bun.sleep(Math.random() * 5_000);
        await berth.stop("SIGKILL");
        await berth.start();
        if (round % 2 === 0 && round !== kills - 1) continue;
        await waitFor(
          "the last command",
          async () => (await releasesOf(berth, "phased"))[0]?.post_exit_code === 0,
          perKillMs,
        );
      }
      const read = (file: string) =>
        berth.docker(["run", "--rm", "-v", `${volume}:/guard`, "berth-fixture:1", "cat", file]);
      expect(read("/guard/faults")).toBe("");
      const lines = read("/guard/log").split("\n");
      const again = lines.filter((line, index) => lines.indexOf(line) !== index);
      const told = (await releasesOf(berth, "phased")).map(({ id, cause, status, error }) => ({
        id,
        cause,
        status,
        error,
      }));
      expect({ again, told }).toEqual({ again: [], told });
      expect(lines.at(-1)).toBe(`${kills - 1} post`);
      const [newest] = await releasesOf(berth, "phased");
      expect(newest).toMatchObject({ status: "succeeded", pre_exit_code: 0, exit_code: 0, post_exit_code: 0 });
      berth.docker(["rm", "-f", ...berth.docker(["ps", "-aq", "--filter", `volume=${volume}`]).split("\n")]);
      berth.docker(["volume", "rm", "-f", volume]);
    },
    kills * perKillMs,
  );
});

describe("what hangs or floods", () => {
  let berth: Rig;
  beforeAll(async () => {
    berth = await rig();
  });
  afterAll(() => berth?.close(), 60_000);

  const app = (v: string, spec: Spec = {}): Manifest =>
    deployment("roll", "odd", { replicas: 2, rollout, env: { V: v }, ...spec });

  test("an init that hangs is ended and named, while the old replicas run", async () => {
    await berth.apply(app("1"));
    await berth.ready("deployment", "roll", "odd");
    const init = { name: "wait", command: ["sleep", "1000"], timeout: "2s" };
    await berth.apply(app("2", { inits: [init] }));
    const failures = await waitFor("the failure to be told", async () => {
      const { init_failures: told } = await berth.status("deployment", "roll", "odd");
      return (told as { error: string }[]).length > 0 && (told as { error: string }[]);
    });
    expect(failures[0]?.error).toStartWith('init "wait" did not end within its timeout');
    expect(seen(berth, "odd").filter((row) => row === "V=1 running")).toHaveLength(2);
    await berth.apply(app("3"));
    await runs(berth, "odd", "3", 2);
  });

  test("what a command prints comes byte for byte, as far as the engine's log keeps it", async () => {
    const command = String.raw`printf '\357\273\277a\000b\r\n\303'; sleep 0.3; printf '\244\033[31mred'; exit 0`;
    await berth.apply(app("5", { release: { command: ["sh", "-c", command] } }));
    const stream = await fetch("http://localhost/releases/run?scope=roll&name=odd", {
      method: "POST",
      unix: berth.endpoint.slice("unix:".length),
    });
    // Bytes that are no UTF-8 at all are replaced in json-file logs by the engine itself.
    const expected = Buffer.from("\ufeffa\0b\r\nä\x1b[31mred\n-----> ");
    expect(Buffer.from(await stream.arrayBuffer()).toString("latin1")).toContain(expected.toString("latin1"));
    await runs(berth, "odd", "5", 2);
  });

  test("a command that floods its output is kept in bounds, and its release succeeds", async () => {
    const flood =
      "yes 0123456789012345678901234567890123456789012345678901234567890123456789 | head -n 300000; echo the end";
    await berth.apply(app("4", { release: { command: ["sh", "-c", flood] } }));
    const stream = await fetch("http://localhost/releases/run?scope=roll&name=odd", {
      method: "POST",
      unix: berth.endpoint.slice("unix:".length),
    });
    const text = await stream.text();
    const [newest] = await releasesOf(berth, "odd");
    expect(text).toEndWith(`-----> Release ${newest?.id} succeeded\n`);
    expect(text).toContain("\nthe end\n");
    await runs(berth, "odd", "4", 2);
    const { body } = await berth.call("GET", "/describe?kind=deployment&scope=roll&name=odd");
    expect(JSON.stringify(body).length).toBeLessThan(1024 * 1024);
  });
});

describe("Docker that restarts in the middle of a rollout", () => {
  let daemon: Dockerd;
  let berth: Rig;
  beforeAll(async () => {
    daemon = await startDockerd();
    berth = await rig({ dockerHost: daemon.host });
  }, 120_000);
  afterAll(async () => {
    await daemon?.start();
    await berth?.close();
    await daemon?.close();
  }, 60_000);

  const app = (v: string, spec: Spec = {}): Manifest =>
    deployment("roll", "away", { replicas: 3, rollout, env: { V: v }, ...spec });

  for (const how of ["stop", "kill"] as const) {
    test(`by ${how}: the rollout goes on when it is back, and nothing that ran was stopped by it`, async () => {
      await berth.apply(app(`${how}1`));
      await berth.ready("deployment", "roll", "away", 60_000);
      await berth.apply(app(`${how}2`));
      await Bun.sleep(1_200);
      await daemon[how]();
      await Bun.sleep(1_000);
      await daemon.start();
      await runs(berth, "away", `${how}2`, 3);
      await berth.ready("deployment", "roll", "away", 60_000);
      expect((await releasesOf(berth, "away"))[0]?.status).toBe("succeeded");
    });
  }

  test("in the middle of a release command: it runs once, and its release succeeds", async () => {
    const command = ["sh", "-c", "echo begun; sleep 6; echo ended"];
    await berth.apply(app("once", { release: { command } }));
    await waitFor("the command to run", () => seen(berth, "away-release").length === 1);
    await daemon.stop();
    await Bun.sleep(1_000);
    await daemon.start();
    await runs(berth, "away", "once", 3);
    await berth.ready("deployment", "roll", "away", 60_000);
    const [newest] = await releasesOf(berth, "away");
    expect(newest).toMatchObject({ status: "succeeded", exit_code: 0 });
  });
});
