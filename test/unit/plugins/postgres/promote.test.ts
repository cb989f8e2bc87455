import { expect, test } from "bun:test";
import type { PodRecord } from "../../../../src/orchestration/api/pods.ts";
import type { Cluster } from "../../../../plugins/kit/cluster.ts";
import { refuseLoss } from "../../../../plugins/postgres/commands/promote.ts";

/** A cluster whose primary is pod 0 and says these one after the other, the last one for ever; undefined: no answer. */
function asked(...answers: (string | undefined)[]) {
  let at = 0;
  const exec = async () => {
    const answer = answers[Math.min(at, answers.length - 1)];
    at += 1;
    return answer === undefined
      ? { exitCode: 1, stdout: "", stderr: "the database system is starting up" }
      : { exitCode: 0, stdout: answer, stderr: "" };
  };
  const cluster = {
    kind: { script: "/berth/tools.sh" },
    pods: [{ name: "data-main.0", replica_id: "0", running: true }] as PodRecord[],
    primary: 0,
    progress: () => undefined,
    controller: { exec },
  } as unknown as Cluster;
  return { cluster, times: () => at };
}

const connected = "role=primary\nstandby=pod-1 streaming 0\n";
const alone = "role=primary\nstandby=pod-1 catchup 9\nstandby=pod-11 streaming 0\n";

test("a standby that is connected gets everything", async () => {
  const { cluster, times } = asked(connected);
  await refuseLoss(cluster, 1);
  expect(times()).toBe(1);
});

test("a primary that has just come back is connected to a moment later", async () => {
  const { cluster, times } = asked(alone, connected);
  await refuseLoss(cluster, 1);
  expect(times()).toBe(2);
});

test("a standby that stays away would lose what it does not have", async () => {
  const { cluster } = asked(alone);
  await expect(refuseLoss(cluster, 1, 600)).rejects.toThrow("pod 1 is not connected to the primary, so what");
});

test.each([[undefined], ["role=standby\n"]])("a pod that takes no writes sends nothing: %p", async (answer) => {
  await refuseLoss(asked(answer).cluster, 1, 0);
});
