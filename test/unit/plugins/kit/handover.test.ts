import { expect, test } from "bun:test";
import type { PodRecord } from "../../../../src/api/orchestration/pods.ts";
import type { Cluster } from "../../../../plugins/kit/cluster.ts";
import type { ExecRequest } from "../../../../plugins/kit/exec.ts";
import { bringBack, chooseTarget, handOver } from "../../../../plugins/kit/handover.ts";

interface FakePod {
  running: boolean;
  frozen: boolean;
  role: "primary" | "standby";
  position: number;
  /** Tools that fail there. */
  broken?: string[];
}

/** Three pods as the server tells of them, and everything that was done, in order. */
function fake(pods: FakePod[]) {
  const done: string[] = [];
  let lockedBy = "";
  const config: Record<string, string> = { PRIMARY: "0", EPOCH: "1" };
  const record = (pod: FakePod, ordinal: number) =>
    ({ name: `data-main.${ordinal}`, replica_id: String(ordinal), ready: pod.running, ...pod }) as unknown as PodRecord;
  const ordinalIn = (name: string) => Number(name.split(".")[1]);
  const list = async () => pods.map(record);
  const exec = async ({ pod: name, command }: ExecRequest) => {
    const ordinal = ordinalIn(name);
    const pod = pods[ordinal];
    const [, , tool = "", ...args] = command;
    if (pod === undefined || !pod.running) throw new Error(`${name} does not run`);
    if (tool === "lock" && lockedBy !== "") return { exitCode: 1, stdout: "", stderr: "another command is at it" };
    if (tool === "lock" || (tool === "unlock" && lockedBy === args[0]))
      lockedBy = tool === "lock" ? String(args[0]) : "";
    if (!["status", "lock", "unlock"].includes(tool)) done.push([tool, ordinal, ...args].join(" "));
    if (pod.broken?.includes(tool)) return { exitCode: 1, stdout: "", stderr: `${tool} failed` };
    if (tool === "promote") pod.role = "primary";
    if (pods.filter((each) => each.running && each.role === "primary").length > 1) throw new Error("two primaries");
    return { exitCode: 0, stdout: `role=${pod.role}\nposition=${pod.position}\n`, stderr: "" };
  };
  const cluster: Cluster = {
    kind: { what: "postgres", primaryKey: "PRIMARY", epochKey: "EPOCH", script: "/berth/tools.sh", mark: "X" },
    of: { scope: "data", name: "main" },
    config,
    env: {},
    pods: pods.map(record),
    primary: 0,
    epoch: 1,
    progress: () => undefined,
    controller: {
      spec: async () => undefined,
      config: async () => config,
      mounts: async () => [],
      pods: list,
      exec,
      async setConfig(_of, vars) {
        done.push(`config ${Object.values(vars).join("@")}`);
        Object.assign(config, vars);
      },
      async freeze(name) {
        const pod = pods[ordinalIn(name)];
        if (pod === undefined) return false;
        done.push(`freeze ${ordinalIn(name)}`);
        Object.assign(pod, { running: false, frozen: true });
        return true;
      },
      async start(name) {
        done.push(`start ${ordinalIn(name)}`);
        const role = Number(config.PRIMARY) === ordinalIn(name) ? "primary" : "standby";
        Object.assign(pods[ordinalIn(name)] ?? {}, { running: true, frozen: false, role });
      },
    },
  };
  return { cluster, done, config, pods };
}

const primary = (): FakePod => ({ running: true, frozen: false, role: "primary", position: 10 });
const standby = (position = 10): FakePod => ({ running: true, frozen: false, role: "standby", position });

test("config first, then the old primary is frozen, then the new one is made, then the others follow", async () => {
  const { cluster, done, config } = fake([primary(), standby(), standby()]);
  await handOver(cluster, { target: 1, promoteMs: 1_000 });
  await bringBack(cluster, 0, 1_000);
  expect(done).toEqual(["config 1@2", "freeze 0", "promote 1 2 1", "follow 2 2 1", "start 0"]);
  expect(config).toEqual({ PRIMARY: "1", EPOCH: "2" });
  expect([cluster.primary, cluster.epoch]).toEqual([1, 2]);
});

test("a promotion that fails puts the old primary back, with a newer word than the failed one", async () => {
  const { cluster, done, pods } = fake([primary(), { ...standby(), broken: ["promote"] }]);
  await expect(handOver(cluster, { target: 1, promoteMs: 1_000 })).rejects.toThrow(
    "promote in data-main.1: promote failed",
  );
  expect(done).toEqual(["config 1@2", "freeze 0", "promote 1 2 1", "config 0@3", "start 0"]);
  expect(pods[0]).toMatchObject({ running: true, role: "primary" });
});

test("a standby that may have become primary although its tool failed keeps the old one down", async () => {
  const { cluster, done, pods } = fake([primary(), { ...standby(), broken: ["promote"] }]);
  const target = pods[1];
  const exec = cluster.controller.exec;
  cluster.controller.exec = async (request) => {
    const answer = await exec(request);
    if (request.command[2] === "promote" && target !== undefined) target.role = "primary";
    return answer;
  };
  await expect(handOver(cluster, { target: 1, promoteMs: 1_000 })).rejects.toThrow("promote failed");
  expect(done.at(-1)).toBe("promote 1 2 1");
  expect(pods[0]).toMatchObject({ running: false, frozen: true });
});

test("what does not come to its end before the stop leaves the old primary as it was", async () => {
  const { cluster, done } = fake([primary(), standby()]);
  const beforeStop = () => Promise.reject(new Error("too far behind"));
  await expect(handOver(cluster, { target: 1, promoteMs: 1_000, beforeStop })).rejects.toThrow("too far behind");
  expect(done).toEqual(["config 1@2", "config 0@3"]);
});

test("a standby that cannot be told to follow does not undo the promotion", async () => {
  const { cluster, done } = fake([primary(), standby(), { ...standby(), broken: ["follow"] }]);
  await handOver(cluster, { target: 1, promoteMs: 1_000 });
  expect(done.at(-1)).toBe("follow 2 2 1");
  expect(cluster.primary).toBe(1);
});

test("the standby that is furthest is chosen; one that is behind only by force", async () => {
  const { cluster } = fake([primary(), standby(5), standby(9)]);
  expect(await chooseTarget(cluster, undefined, false)).toBe(2);
  await expect(chooseTarget(cluster, 1, false)).rejects.toThrow("pod 2 has 4 bytes more than pod 1");
  expect(await chooseTarget(cluster, 1, true)).toBe(1);
  await expect(chooseTarget(cluster, 0, true)).rejects.toThrow("pod 0 is primary already");
  await expect(chooseTarget(cluster, 7, true)).rejects.toThrow("data/main has no pod 7; it has 0, 1, 2");
});

test("without a standby that answers nothing is chosen", async () => {
  const { cluster } = fake([primary(), { ...standby(), running: false }]);
  await expect(chooseTarget(cluster, undefined, true)).rejects.toThrow("no standby answers");
  await expect(bringBack(cluster, 0, 1_000)).rejects.toThrow("pod 0 of data/main is primary; it has nobody to follow");
});

test("of two at the same time one is refused before it has changed anything, and the lock is given back", async () => {
  const { cluster, done, pods } = fake([primary(), standby(), standby()]);
  const second = { ...cluster };
  const outcomes = await Promise.allSettled([
    handOver(cluster, { target: 1, promoteMs: 1_000 }),
    handOver(second, { target: 2, promoteMs: 1_000 }),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(done.filter((step) => step.startsWith("promote"))).toEqual(["promote 1 2 1"]);
  expect(pods.filter(({ role, running }) => role === "primary" && running)).toHaveLength(1);
  await expect(handOver(second, { target: 2, promoteMs: 1_000 })).rejects.toThrow(
    "another command has just changed this cluster",
  );
  await handOver(cluster, { target: 2, promoteMs: 1_000 });
  expect(cluster.primary).toBe(2);
});
