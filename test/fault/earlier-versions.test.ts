import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import { earlierProgram, hasCommit } from "../support/other-version.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(180_000);

/**
 * Before the house was laid by services; before ingresses were served; before the observability plane; before what
 * decides later had rows beside the status.
 */
const commits = ["b4f1b573", "281c1895", "6c69d1d6", "d7a4af52"];

const work = mkdtempSync(join(tmpdir(), "berth-earlier."));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const sleeper = {
  image: "berth-fixture:1",
  command: ["sleep", "100000"],
  stop_grace: "0s",
  rollout: { min_ready: "0s" },
};
const probe = { exec: { command: ["true"] }, period: "1s" };

/** What a specification can hold: each field is a part of the hash that decides whether a container is replaced. */
const manifests: Manifest[] = [
  { kind: "deployment", scope: "shop", name: "plain", spec: { ...sleeper, replicas: 2 } },
  {
    kind: "deployment",
    scope: "shop",
    name: "rich",
    spec: {
      ...sleeper,
      env: { MODE: "live", EMPTY: "" },
      resources: { limits: { cpu: "0.5", memory: "64Mi" } },
      probes: { readiness: probe, liveness: probe },
      volumes: ["${asset.page.index}:/www/index.html:ro"],
    },
  },
  {
    kind: "statefulset",
    scope: "shop",
    name: "db",
    spec: { ...sleeper, replicas: 2, volume_claims: [{ name: "data", mount_path: "/data" }] },
  },
  { kind: "asset", scope: "shop", name: "page", spec: { files: { index: "hello" } } },
  {
    kind: "cronjob",
    scope: "shop",
    name: "nightly",
    spec: { schedule: "0 3 * * *", job: { image: "berth-fixture:1", command: ["true"] } },
  },
];

/** Gets ready until its config says otherwise: a change that fails, so that the old replica stays. */
const stubborn: Manifest = {
  kind: "deployment",
  scope: "shop",
  name: "stubborn",
  spec: {
    ...sleeper,
    probes: { readiness: { exec: { command: ["sh", "-c", 'test -z "$BROKEN"'] }, period: "1s" } },
    rollout: { progress_deadline: "5s" },
  },
};

let berth: Rig;
afterEach(() => berth?.close());

/** What must stay as it is. */
function containers(): string[] {
  const ids = berth.docker(["ps", "-aq", "--no-trunc", "--filter", `label=createdby=${berth.prefix}`]);
  const shown = ["inspect", "--format", "{{.Id}} {{.Name}} {{.State.Status}} since {{.State.StartedAt}}"];
  return berth
    .docker([...shown, ...ids.split("\n").filter(Boolean)])
    .split("\n")
    .filter(Boolean)
    .sort();
}

describe("an upgrade replaces no container", () => {
  for (const commit of commits) {
    test.skipIf(!hasCommit(commit))(`of the state that commit ${commit} left`, async () => {
      const program = earlierProgram(join(work, commit), commit);
      berth = await rig({ program });
      const answer = await berth.apply(...manifests);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      for (const name of ["plain", "rich"]) await berth.ready("deployment", "shop", name);
      await berth.ready("statefulset", "shop", "db");
      await haltOnConfig();
      const before = containers();
      expect(before).toHaveLength(6);
      await berth.stop();

      await berth.start();
      for (const name of ["plain", "rich"]) await berth.ready("deployment", "shop", name);
      await berth.ready("statefulset", "shop", "db");
      expect(containers()).toEqual(before);
      expect(await berth.status("deployment", "shop", "stubborn")).toMatchObject({ halted: expect.anything() });
      // The same manifests once more: nothing is to be done.
      const again = await berth.apply(...manifests);
      expect(again.status, JSON.stringify(again.body)).toBe(200);
      await seenByReconciler();
      expect(containers()).toEqual(before);
    });
  }
});

/** Only what the server remembers of it keeps the next one from trying that config again. */
async function haltOnConfig(): Promise<void> {
  expect((await berth.apply(stubborn)).status).toBe(200);
  await berth.ready("deployment", "shop", "stubborn");
  const [good] = await berth.pods("shop", "stubborn");
  expect((await berth.call("POST", "/config?scope=shop&name=stubborn", { BROKEN: "1" })).status).toBe(200);
  await waitFor("the config change to be halted", async () => {
    const status = await berth.status("deployment", "shop", "stubborn");
    const pods = await berth.pods("shop", "stubborn");
    return status.halted !== undefined && pods.length === 1 && pods[0]?.name === good?.name;
  });
}

/** A change that is applied after the others and carried out after them. */
async function seenByReconciler(): Promise<void> {
  const late: Manifest = { kind: "deployment", scope: "shop", name: "late", spec: { ...sleeper, replicas: 0 } };
  expect((await berth.apply(late)).status).toBe(200);
  await waitFor("the reconciler to have seen the last apply", async () => {
    const { observed_revision: seen } = await berth.status("deployment", "shop", "late");
    return Number(seen) >= 1;
  });
}
