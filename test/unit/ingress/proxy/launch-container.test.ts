import { expect, test } from "bun:test";
import { launchContainer } from "../../../../src/ingress/proxy/launch-container.ts";
import { waitFor } from "../../../support/wait.ts";

function container(ended: (id: string, signal: AbortSignal) => Promise<void>) {
  const calls: string[] = [];
  const launch = launchContainer<string>({
    once: async () => ({ exitCode: 0, stdout: "", stderr: "" }),
    start: async () => "c1",
    ended,
    stop: async () => void calls.push("stop"),
    output: () => Promise.reject(new Error("the engine is away")),
  });
  return { launch, calls };
}

const untilAborted = (_: string, signal: AbortSignal) =>
  new Promise<void>((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));

test("a container that ends is known to have ended", async () => {
  const { launch } = container(async () => undefined);
  const begun = await launch.begin([]);
  await waitFor("the end", () => begun.hasEnded());
});

test("one that does not come up is stopped, one that does is let go", async () => {
  const { launch, calls } = container(untilAborted);
  (await launch.begin([])).letGo();
  expect(calls).toEqual([]);
  const begun = await launch.begin([]);
  await begun.giveUp();
  expect([begun.hasEnded(), calls]).toEqual([false, ["stop"]]);
});

test("without the engine there is no output to quote", async () => {
  expect(await container(untilAborted).launch.lastOutput()).toBe("");
});
