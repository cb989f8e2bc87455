import type Dockerode from "dockerode";
import { rawDocker } from "../support/docker.ts";
import { deployment, fixtureImage } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";
import { elapsed, median } from "./median.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const replicas = 10;
const rounds = 3;
/** The gate that both wait for after each start. */
const minReadyMs = 500;

/** Ten replicas replaced one after the other, start first, against the same starts and stops by direct calls. */
export async function run(): Promise<BenchRow[]> {
  const berth = await rig();
  const docker = rawDocker(berth.dockerHost);
  try {
    await ours(berth, 0);
    let old = await Promise.all(
      Array.from({ length: replicas }, (_, index) => directStart(berth, docker, `0-${index}`)),
    );
    const rolled: number[] = [];
    const direct: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      rolled.push(await elapsed(() => ours(berth, round)));
      const made: Dockerode.Container[] = [];
      direct.push(
        await elapsed(async () => {
          for (const [index, leaving] of old.entries()) {
            made.push(await directStart(berth, docker, `${round}-${index}`));
            await Bun.sleep(minReadyMs);
            await leaving.stop({ t: 1 });
            await leaving.remove();
          }
        }),
      );
      const beside = berth.docker(["ps", "-q", "--filter", `name=${berth.prefix}-direct-`]);
      mustBe("containers that run beside", beside.split("\n").filter(Boolean).length, replicas);
      old = made;
    }
    const [value, baseline] = [median(rolled), median(direct)];
    return [
      { name: `rolling ${replicas} replicas`, value, unit: "ms", baseline, ratio: value / baseline, wanted: "<= 1.3" },
    ];
  } finally {
    await berth.close();
  }
}

async function ours(berth: Rig, version: number): Promise<void> {
  const rollout = { min_ready: `${minReadyMs}ms` };
  const spec = { replicas, rollout, stop_signal: "SIGKILL", env: { V: String(version) } };
  const before = new Set((await berth.pods("bench", "rolling")).map(({ name }) => name));
  const answer = await berth.apply(deployment("bench", "rolling", spec));
  if (answer.status !== 200) throw new Error(`apply answered ${answer.status}: ${answer.body.error}`);
  // The status may still be that of the version before, which was ready as well.
  await berth.ready("deployment", "bench", "rolling", 120_000);
  const pods = await waitFor(
    `version ${version} alone`,
    async () => {
      const now = await berth.pods("bench", "rolling");
      return now.length === replicas ? now : undefined;
    },
    120_000,
  );
  const kept = pods.filter(({ name }) => before.has(name));
  const versions = berth.docker(["inspect", "--format", "{{json .Config.Env}}", ...pods.map(({ name }) => name)]);
  mustBe(`replicas of version ${version}`, versions.split(`"V=${version}"`).length - 1, replicas);
  if (kept.length > 0) throw new Error(`${kept.length} replicas of version ${version - 1} were not replaced`);
}

async function directStart(berth: Rig, docker: Dockerode, name: string): Promise<Dockerode.Container> {
  const container = await docker.createContainer({
    name: `${berth.prefix}-direct-${name}`,
    Image: fixtureImage,
    Cmd: ["sleep", "100000"],
    StopSignal: "SIGKILL",
    Labels: { createdby: berth.prefix },
    HostConfig: { NetworkMode: `${berth.prefix}0`, RestartPolicy: { Name: "unless-stopped" } },
  });
  await container.start();
  return container;
}
