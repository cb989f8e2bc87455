import { describe, expect, test } from "bun:test";
import type { PodRecord } from "../../../../src/api/orchestration/pods.ts";
import type { Cluster } from "../../../../plugins/kit/cluster.ts";
import type { ExecRequest } from "../../../../plugins/kit/exec.ts";
import { bringBack, confirmPrimary, handOver } from "../../../../plugins/kit/handover.ts";
import { chooseTarget, standingOf } from "../../../../plugins/kit/standing.ts";

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

const choice = async (pods: FakePod[], wanted?: number, force = false) => {
  const { cluster } = fake(pods);
  const standing = await standingOf(cluster);
  return [standing.primary, chooseTarget(cluster, standing, { wanted, force })];
};
const stopped = (): FakePod => ({ running: false, frozen: true, role: "primary", position: 0 });

test("the standby that is furthest is chosen; one that is behind only by force", async () => {
  const pods = () => [primary(), standby(5), standby(9)];
  expect(await choice(pods())).toEqual([0, 2]);
  await expect(choice(pods(), 1)).rejects.toThrow("pod 2 has 4 bytes more than pod 1");
  expect(await choice(pods(), 1, true)).toEqual([0, 1]);
  await expect(choice(pods(), 7)).rejects.toThrow("data/main has no pod 7; it has 0, 1, 2");
});

test("the primary itself means that there is nothing to hand over", async () => {
  expect(await choice([primary(), standby()], 0)).toEqual([0, 0]);
});

test("without a standby that answers nothing is chosen", async () => {
  await expect(choice([primary(), { ...standby(), running: false }], undefined, true)).rejects.toThrow(
    "no standby answers",
  );
  const { cluster } = fake([primary(), standby()]);
  await expect(bringBack(cluster, 0, 1_000)).rejects.toThrow("pod 0 of data/main is primary; it has nobody to follow");
});

describe("a promotion that was interrupted goes on", () => {
  const interrupted = async (pods: FakePod[], wanted?: number) => {
    const { cluster, done } = fake(pods);
    Object.assign(cluster.config, { PRIMARY: "1", EPOCH: "2" });
    Object.assign(cluster, { primary: 1, epoch: 2 });
    const standing = await standingOf(cluster);
    const target = chooseTarget(cluster, standing, { wanted, force: false });
    cluster.primary = standing.primary;
    if (target === cluster.primary) await confirmPrimary(cluster);
    else await handOver(cluster, { target, promoteMs: 1_000 });
    return { cluster, done };
  };

  test("after the word was written: the old primary still takes writes", async () => {
    const { done } = await interrupted([primary(), standby(), standby(20)]);
    expect(done).toEqual(["config 1@3", "freeze 0", "promote 1 3 1", "follow 2 3 1"]);
  });

  test("the same, and the operator has thought better of it", async () => {
    const { done, cluster } = await interrupted([primary(), standby(), standby()], 0);
    expect(done).toEqual(["config 0@3", "follow 1 3 0", "follow 2 3 0"]);
    expect(cluster.config).toEqual({ PRIMARY: "0", EPOCH: "3" });
  });

  test("after the old primary was stopped: none takes writes", async () => {
    const { done } = await interrupted([stopped(), standby(), standby()]);
    expect(done).toEqual(["config 1@3", "freeze 0", "promote 1 3 1", "follow 2 3 1"]);
  });

  test("after the new one took over: the others hear of it", async () => {
    const { done, cluster } = await interrupted([stopped(), { ...primary(), position: 11 }, standby()], 1);
    expect(done).toEqual(["follow 2 2 1"]);
    expect(cluster.config).toEqual({ PRIMARY: "1", EPOCH: "2" });
  });

  test("where all follow and nobody leads, one leads", async () => {
    const { done } = await interrupted([standby(), standby()]);
    expect(done).toEqual(["config 1@3", "promote 1 3 1", "follow 0 3 1"]);
  });
});

test("two that take writes are told, and nobody is chosen", async () => {
  const { cluster } = fake([primary(), standby()]);
  cluster.controller.exec = async () => ({ exitCode: 0, stdout: "role=primary\n", stderr: "" });
  await expect(standingOf(cluster)).rejects.toThrow("pods 0 and 1 both take writes");
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
