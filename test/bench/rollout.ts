import type Dockerode from "dockerode";
import { rawDocker } from "../support/docker.ts";
import { deployment, fixtureImage } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";
import { elapsed, median } from "./median.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const single = 20;
const many = 50;
const manyRounds = 2;
const kills = 10;

/** Apply to running containers, and killed to running again, against the Docker API called directly. */
export async function run(): Promise<BenchRow[]> {
  const berth = await rig();
  const docker = rawDocker(berth.dockerHost);
  try {
    return [await onePod(berth, docker), await manyPods(berth, docker), await healing(berth, docker)];
  } finally {
    await berth.close();
  }
}

async function onePod(berth: Rig, docker: Dockerode): Promise<BenchRow> {
  const ours: number[] = [];
  const direct: number[] = [];
  await applied(berth, "warm", 1);
  for (let round = 0; round < single; round++) {
    ours.push(await elapsed(() => applied(berth, `one${round}`, 1)));
    direct.push(await elapsed(() => directStart(berth, docker, `direct-one${round}`)));
    await removed(berth, `one${round}`);
    await docker.getContainer(`${berth.prefix}-direct-one${round}`).remove({ force: true });
  }
  return row("apply to running, one pod", { value: median(ours), baseline: median(direct), wanted: "<= 1.25" });
}

async function manyPods(berth: Rig, docker: Dockerode): Promise<BenchRow> {
  const ours: number[] = [];
  const direct: number[] = [];
  for (let round = 0; round < manyRounds; round++) {
    ours.push(await elapsed(() => applied(berth, `many${round}`, many)));
    await removed(berth, `many${round}`);
    direct.push(Math.min(await directMany(berth, docker, 8), await directMany(berth, docker, 16)));
  }
  return row(`apply to running, ${many} pods`, { value: median(ours), baseline: median(direct), wanted: "<= 1.3" });
}

async function removed(berth: Rig, name: string): Promise<void> {
  const answer = await berth.call("DELETE", `/apply?kind=deployment&scope=bench&name=${name}&prune=true`);
  if (answer.status !== 200) throw new Error(`delete answered ${answer.status}: ${answer.body.error}`);
}

/** The best of several concurrencies is the baseline. */
async function directMany(berth: Rig, docker: Dockerode, concurrency: number): Promise<number> {
  const names = Array.from({ length: many }, (_, index) => `direct-many${concurrency}-${index}`);
  const queue = [...names];
  const worker = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) await directStart(berth, docker, name);
  };
  const ms = await elapsed(() => Promise.all(Array.from({ length: concurrency }, worker)));
  const running = berth.docker(["ps", "-q", "--filter", `name=${berth.prefix}-direct-many${concurrency}-`]);
  mustBe("containers that run beside", running.split("\n").filter(Boolean).length, many);
  await Promise.all(names.map((name) => docker.getContainer(`${berth.prefix}-${name}`).remove({ force: true })));
  return ms;
}

async function applied(berth: Rig, name: string, replicas: number): Promise<void> {
  const answer = await berth.apply(deployment("bench", name, { replicas }));
  if (answer.status !== 200) throw new Error(`apply answered ${answer.status}: ${answer.body.error}`);
  await waitFor(`${replicas} running`, () => runningCount(berth, name) === replicas, 120_000);
}

/** Asked of Docker itself, in one cheap call. */
function runningCount(berth: Rig, name: string): number {
  const filter = ["--filter", `label=${berth.prefix}.name=${name}`, "--filter", "status=running"];
  return berth
    .docker(["ps", "-q", ...filter])
    .split("\n")
    .filter(Boolean).length;
}

async function directStart(berth: Rig, docker: Dockerode, name: string): Promise<void> {
  const full = `${berth.prefix}-${name}`;
  const container = await docker.createContainer({
    name: full,
    Image: fixtureImage,
    Cmd: ["sleep", "100000"],
    Labels: { createdby: berth.prefix },
    HostConfig: { NetworkMode: `${berth.prefix}0`, RestartPolicy: { Name: "unless-stopped" } },
  });
  await container.start();
  // The same look at the result that ours is measured with.
  berth.docker(["ps", "-q", "--filter", `name=${full}`]);
}

async function healing(berth: Rig, docker: Dockerode): Promise<BenchRow> {
  const ours: number[] = [];
  const direct: number[] = [];
  for (let round = 0; round < kills; round++) {
    // A resource of its own each time: one that dies again and again is started with a back-off.
    await applied(berth, `heal${round}`, 1);
    const [id = ""] = berth.docker(["ps", "-q", "--filter", `label=${berth.prefix}.name=heal${round}`]).split("\n");
    ours.push(await killedUntil(docker, id, async () => undefined));
    await directStart(berth, docker, `direct-heal${round}`);
    const name = `${berth.prefix}-direct-heal${round}`;
    direct.push(await killedUntil(docker, name, () => docker.getContainer(name).start()));
    await docker.getContainer(name).remove({ force: true });
  }
  return row("killed to running again", { value: median(ours), baseline: median(direct), wanted: "<= 1.5" });
}

/** From the kill to the next start event of the container; `react` is called at its die event. */
async function killedUntil(docker: Dockerode, id: string, react: () => Promise<unknown>): Promise<number> {
  const events = await docker.getEvents({ filters: { container: [id], event: ["die", "start"] } });
  const started = new Promise<void>((resolve, reject) => {
    events.on("data", (chunk: Buffer) => {
      if (chunk.includes('"die"')) react().catch(reject);
      if (chunk.includes('"start"')) resolve();
    });
  });
  const ms = await elapsed(async () => {
    await docker.getContainer(id).kill();
    await started;
  });
  (events as unknown as { destroy(): void }).destroy();
  mustBe(`whether ${id} runs again`, (await docker.getContainer(id).inspect()).State.Running, true);
  return ms;
}

function row(name: string, { value, baseline, wanted }: { value: number; baseline: number; wanted: string }): BenchRow {
  return { name, value, unit: "ms", baseline, ratio: value / baseline, wanted };
}
