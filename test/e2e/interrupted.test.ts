import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { executable } from "../support/executable.ts";
import { deployment } from "../support/manifests.ts";
import { type OnTerminal, onTerminal } from "../support/pty.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

let berth: Rig;
let folder: string;

/** Never ready, so that there is something to wait for. */
const slow = deployment("shop", "slow", {
  command: ["sleep", "3600"],
  probes: { readiness: { exec: { command: ["false"] } } },
});

beforeAll(async () => {
  berth = await rig();
  folder = mkdtempSync(join(tmpdir(), "interrupted-"));
  writeFileSync(join(folder, "slow.json"), JSON.stringify(slow));
  mkdirSync(join(folder, "built"));
  const manifest = { ...deployment("shop", "built"), spec: { build: {} } };
  writeFileSync(join(folder, "built/berth.yaml"), JSON.stringify(manifest));
  writeFileSync(join(folder, "built/Dockerfile"), "FROM berth-fixture:1\nRUN echo begun && sleep 600\n");
  await berth.apply(deployment("shop", "web", { command: ["sh", "-c", "echo up; sleep 3600"] }));
  await berth.ready("deployment", "shop", "web");
}, 60_000);
afterAll(async () => {
  await berth.close();
  rmSync(folder, { recursive: true });
});

const open = (args: string[], cwd = folder) => onTerminal(args, { BERTH_ENDPOINT: berth.endpoint }, cwd);

/** How it ends by the signal: with 128 and its number, the terminal as before, and without a word of the platform. */
async function endedBy(it: OnTerminal, signal: NodeJS.Signals): Promise<void> {
  it.kill(signal);
  expect(await it.exited).toBe(128 + constants.signals[signal]);
  expect(it.raw()).toBe(false);
  expect(it.shown()).not.toMatch(/this is a bug|\n {4}at /);
}

const signals: NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

describe.each(signals)("%s", (signal) => {
  test.each([
    ["a question", ["delete", "shop/web"], "[y/N]", "interrupted: nothing was changed"],
    ["following output", ["logs", "-f", "shop/web"], "up", ""],
    ["following events", ["events", "-f"], "WHAT", ""],
    ["a list that is kept current", ["get", "-w"], "shop/web", ""],
    ["a table of use", ["stats", "-w"], "POD", ""],
    ["forwarding a port", ["port-forward", "shop/web", ":80"], "→", ""],
    [
      "a command",
      ["exec", "shop/web", "--", "sh", "-c", "echo begun; sleep 600"],
      "begun",
      "the server ends the command",
    ],
    [
      "a terminal",
      ["exec", "-it", "shop/web", "--", "sh", "-c", "echo begun; cat"],
      "begun",
      "the server ends the command",
    ],
    ["a container of its own", ["run", "shop/web", "--", "sh", "-c", "echo begun; cat"], "begun", "the server ends"],
  ])("%s", async (_, args, until, says) => {
    const it = open(args);
    await it.until(until);
    await endedBy(it, signal);
    await it.until(says);
  });

  test("waiting for an apply: the server goes on, and how to follow it and to undo it", async () => {
    const it = open(["apply", "-f", "slow.json", "-y"]);
    await it.until("not ready yet");
    await endedBy(it, signal);
    await it.until("undo it:   berth delete deployment shop/slow");
    expect(it.shown()).toContain("not waited for: the server goes on");
    expect(it.shown()).toContain("follow it: berth rollout status shop/slow -w");
    await berth.cli(["delete", "shop/slow", "-y"]);
  });

  test("a build ends with it, and nothing is deployed", async () => {
    const it = open(["up", "-y"], join(folder, "built"));
    await it.until("Running in");
    await endedBy(it, signal);
    await it.until("interrupted during the build of shop/built: nothing was deployed");
    expect((await berth.cli(["get", "shop/built"])).stdout).not.toContain("shop/built");
  });

  test("a sign-in that waits takes its ssh along, and leaves no file", async () => {
    const bin = join(folder, `ssh-${signal}`);
    mkdirSync(bin);
    writeFileSync(join(bin, "ssh"), `#!/bin/sh\necho $$ >${bin}/pid\nexec sleep 600\n`);
    chmodSync(join(bin, "ssh"), 0o755);
    const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: bin, BERTH_TUNNELS: join(bin, "t") };
    const it = onTerminal(["get", "-r", "root@server.invalid"], env);
    await waitFor("ssh to run", () => existsSync(join(bin, "pid")) && readFileSync(join(bin, "pid"), "utf8") !== "");
    await endedBy(it, signal);
    const pid = readFileSync(join(bin, "pid"), "utf8").trim();
    await waitFor("ssh to end", () => !existsSync(`/proc/${pid}`));
    expect([...new Bun.Glob("**/*").scanSync({ cwd: join(bin, "t") })]).toEqual([]);
  });
});

test("a command that was started with nohup goes on when its terminal is closed", async () => {
  const script = `trap "" HUP; exec "${executable}" logs -f shop/web`;
  const env = { PATH: process.env.PATH ?? "", BERTH_ENDPOINT: berth.endpoint };
  const child = Bun.spawn(["sh", "-c", script], { env, stdout: "pipe", stderr: "pipe" });
  expect(Buffer.from((await child.stdout.getReader().read()).value ?? []).toString()).toContain("up");
  child.kill("SIGHUP");
  child.kill("SIGTERM");
  expect(await child.exited).toBe(143);
});
