import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { deployment } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const key = keyOf("deployment", "shop", "web");
const block = { pre_command: ["backup"], command: ["migrate"], post_command: ["warm"] };
const app = (spec: Spec = {}) => deployment("shop", "web", { replicas: 2, release: block, ...spec });
const releases = () => it.store.releases.list(key);
const latest = () => {
  const [first] = releases();
  if (first === undefined) throw new Error("no release");
  return first;
};
const isCommand = (name: string) => name.startsWith("shop-web-release.");
const commands = () => it.containers().filter(isCommand);
const replicas = () => it.runtime.containers().filter(({ name }) => name.startsWith("shop-web."));
const envs = () => replicas().map(({ env }) => env.V);
const made = () => it.runtime.calls.flatMap((call) => (call.startsWith("create shop-web-release.") ? [call] : []));

/** Lets the one command that runs end. */
async function end(exitCode = 0): Promise<void> {
  await it.quiet();
  const running = it.runtime.containers().filter(({ name, state }) => isCommand(name) && state === "running");
  expect(running).toHaveLength(1);
  it.runtime.finish(running[0]?.name ?? "", exitCode);
  await it.quiet();
}

async function released(spec: Spec = {}): Promise<void> {
  await it.apply(app(spec));
  for (const _ of Object.keys(block).slice(0, 2)) await end();
  await it.advance(40_000);
  await end();
  await it.settle();
}

/** Follows in the background: the text so far, and whether it has ended. */
function follow(id = latest().id) {
  const state = { text: "", ended: false };
  void (async () => {
    const stream = await it.controller.runRelease({ scope: "shop", name: "web" }, { follow: true, actor: "ana" });
    expect(stream.releaseId).toBe(id);
    for await (const piece of stream.transcript.follow(new AbortController().signal))
      state.text += Buffer.from(piece).toString();
    state.ended = true;
  })();
  return state;
}

const run = () => it.controller.runRelease({ scope: "shop", name: "web" }, { follow: false, actor: "ana" });

describe("the commands of a release", () => {
  test("run one after the other before the first replica, and the last one after the last", async () => {
    await it.apply(app());
    await it.quiet();
    const { id } = latest();
    expect([commands(), replicas()]).toEqual([[`shop-web-release.${id}-pre`], []]);
    expect(latest().status).toBe("pending");
    expect((await it.status("deployment", "shop", "web")).conditions[0]?.message).toContain("release phase");
    await end();
    expect([commands(), replicas()]).toEqual([[`shop-web-release.${id}`], []]);
    expect(latest()).toMatchObject({ preExitCode: 0, exitCode: undefined });
    await end();
    expect([commands(), replicas().length]).toEqual([[`shop-web-release.${id}-post`], 2]);
    expect(latest()).toMatchObject({ status: "succeeded", good: true, exitCode: 0, postExitCode: undefined });
    await end();
    await it.settle();
    expect([commands(), latest().postExitCode]).toEqual([[], 0]);
  });

  test("have the image, environment and networks of the app, and not its limits", async () => {
    await it.apply(app({ env: { V: "1" }, resources: { limits: { memory: "64Mi", cpu: "500m" } } }));
    await it.quiet();
    const command = it.runtime.containers().find(({ name }) => isCommand(name));
    expect(command).toMatchObject({
      command: ["backup"],
      restartPolicy: "no",
      memoryBytes: undefined,
      nanoCpus: undefined,
    });
    expect(command?.env.V).toBe("1");
    expect(Object.keys(command?.networks ?? {})).toEqual(["berth0"]);
  });

  test("keep the old replicas serving until they have passed", async () => {
    await released({ env: { V: "1" } });
    await it.apply(app({ env: { V: "2" } }));
    await end();
    expect(envs()).toEqual(["1", "1"]);
    await end();
    await it.advance(40_000);
    expect(envs()).toEqual(["2", "2"]);
  });

  test("are no readiness of what was applied, however well the old replicas do", async () => {
    await released({ env: { V: "1" } });
    const { applied } = await it.apply(app({ env: { V: "2" }, rollout: { auto_rollback: false } }));
    await it.quiet();
    const during = await it.status("deployment", "shop", "web");
    expect(during).toMatchObject({ phase: "progressing", observed_revision: applied[0]?.metadata?.revision });
    expect(during.conditions[0]).toMatchObject({ type: "Ready", status: true });
    expect(during.conditions[1]).toMatchObject({ type: "Progressing", status: true, reason: "ReleasePhase" });
    expect(during.conditions[1]?.message).toContain(latest().id);
    await end(3);
    const after = await it.status("deployment", "shop", "web");
    expect(after).toMatchObject({ phase: "failed", last_reconcile_error: "failed in pre_command (exit 3)" });
  });

  test("that failed and were corrected run with the next apply, also when no container is made differently", async () => {
    await it.apply(app());
    await end(1);
    expect([latest().status, replicas()]).toEqual(["failed", []]);
    await it.apply(app({ release: { command: ["migrate", "--fixed"] } }));
    await it.quiet();
    expect(it.runtime.containers().map(({ command }) => command)).toEqual([["migrate", "--fixed"]]);
    await end();
    await it.settle();
    expect([latest().status, replicas().length]).toEqual(["succeeded", 2]);
  });

  test("that failed for want of config are tried again when it is set", async () => {
    await it.apply(app());
    await end(1);
    const failed = latest().id;
    const options = { restart: true, actor: "ana" };
    const dry = await it.controller.setConfig(
      { scope: "shop", name: "web" },
      { URL: "db" },
      { ...options, dryRun: true },
    );
    expect([dry.notes, latest().id]).toEqual([
      [`deployment/shop/web: release ${failed} failed and is tried again`],
      failed,
    ]);
    const { notes } = await it.controller.setConfig({ scope: "shop", name: "web" }, { URL: "db" }, options);
    expect(notes).toEqual([
      `deployment/shop/web: release ${failed} failed and is tried again as release ${latest().id}`,
    ]);
    expect(latest()).toMatchObject({ cause: "config", status: "pending" });
    await end();
    await end();
    await it.advance(1_000);
    expect(replicas().map(({ env }) => env.URL)).toEqual(["db", "db"]);
  });

  test("that are corrected while they run end, and only the corrected ones run after that", async () => {
    await it.apply(app());
    await it.quiet();
    const first = latest().id;
    await it.apply(app({ release: { command: ["migrate", "--fixed"] } }));
    await end();
    expect(it.runtime.containers().map(({ command }) => command)).toEqual([["migrate", "--fixed"]]);
    expect(releases()[1]).toMatchObject({ id: first, status: "failed" });
    await end();
    await it.settle();
    expect(latest().status).toBe("succeeded");
  });

  test("end at once when their deployment is deleted, and what is applied then runs its own", async () => {
    await it.apply(app());
    await it.quiet();
    const seen = follow();
    await it.quiet();
    const [old = ""] = commands();
    await it.controller.deleteManifest(
      { kind: "deployment", scope: "shop", name: "web" },
      { prune: false, actor: "a" },
    );
    await it.quiet();
    expect(it.runtime.calls.some((call) => call.startsWith("stop "))).toBe(true);
    expect([it.containers(), it.store.deletions.list(), seen.ended]).toEqual([[], [], true]);
    await it.apply(app());
    await it.quiet();
    expect(commands()).toHaveLength(1);
    expect(commands()).not.toContain(old);
  });

  test("one that fails ends the release, and the old spec is what is stored", async () => {
    await released({ env: { V: "1" } });
    await it.apply(app({ env: { V: "2" } }));
    await end();
    const seen = follow();
    it.runtime.writeLog(commands()[0] ?? "", "cannot migrate\n");
    await end(3);
    const failed = releases()[1];
    expect(failed).toMatchObject({
      status: "failed",
      preExitCode: 0,
      exitCode: 3,
      error: "failed in command (exit 3)",
    });
    expect(failed?.log).toContain("cannot migrate");
    expect(latest()).toMatchObject({ cause: "auto_rollback", rolledBackFrom: releases()[2]?.id });
    expect(it.store.manifests.get(key)?.spec.env).toEqual({ V: "1" });
    expect(seen.ended).toBe(true);
    expect(seen.text).toEndWith(`cannot migrate\n-----> Release ${failed?.id} failed in command (exit 3)\n`);
    await it.settle();
    expect(envs()).toEqual(["1", "1"]);
    // Putting the last good spec back runs none of its commands.
    await it.advance(60_000);
    expect([commands(), latest().postExitCode]).toEqual([[], undefined]);
  });

  test("one that fails a first release starts nothing, and the next apply tries again", async () => {
    await it.apply(app());
    await end(1);
    expect(latest()).toMatchObject({ status: "failed", error: "failed in pre_command (exit 1)" });
    expect(made()).toHaveLength(1);
    await it.apply(app());
    await it.quiet();
    expect([releases().length, latest().status, commands().length]).toEqual([2, "pending", 1]);
  });

  test("one that runs too long is ended, and named", async () => {
    await it.apply(app({ release: { command: ["migrate"], timeout: "30s" } }));
    await it.advance(29_000);
    expect(commands()).toHaveLength(1);
    await it.advance(1_500);
    expect([commands(), latest().status]).toEqual([[], "failed"]);
    expect(latest()).toMatchObject({ exitCode: -1, error: "failed in command (no end within its timeout)" });
  });

  test("one whose failure is recorded and nothing more: the last", async () => {
    await it.apply(app());
    const seen = follow();
    await end();
    await end();
    await end(4);
    await it.settle();
    expect(latest()).toMatchObject({ status: "succeeded", postExitCode: 4 });
    const [event] = it.store.events.list({ scope: "shop", limit: 1 });
    expect(event).toMatchObject({
      action: "release.post_failed",
      detail: { error: "failed in post_command (exit 4)" },
    });
    expect((await it.controller.why(key)).failed_release).toMatchObject({
      id: latest().id,
      error: "post_command failed (exit 4)",
      post_exit_code: 4,
    });
    expect(seen.text.split("\n").at(-2)).toBe(`-----> Release ${latest().id} succeeded`);
    expect(seen.text.split("\n").slice(0, -2).join("\n")).not.toContain("failed");
  });

  test("an image that is not there fails the release with the reason", async () => {
    await it.apply(app({ image: "nowhere:1" }));
    await it.quiet();
    expect(latest()).toMatchObject({ status: "failed", preExitCode: -1 });
    expect(latest().error).toContain("nowhere:1");
  });
});

describe("what is said", () => {
  test("is the same for all who follow, whenever they come, word for word", async () => {
    await it.apply(app());
    await it.quiet();
    const { id } = latest();
    const early = follow();
    it.runtime.writeLog(commands()[0] ?? "", "saving\n");
    await end();
    it.runtime.writeLog(commands()[0] ?? "", "step 1\nstep 2\n");
    await end();
    await end();
    await it.settle();
    const late = follow();
    await it.quiet();
    const text = [
      `-----> Release ${id}: pre_command`,
      "saving",
      `-----> Release ${id}: command`,
      "step 1",
      "step 2",
      `-----> Release ${id}: post_command`,
      `-----> Release ${id} succeeded`,
      "",
    ].join("\n");
    expect([early, late]).toEqual([
      { text, ended: true },
      { text, ended: true },
    ]);
  });

  test("names the replicas that are replaced", async () => {
    await released();
    const stream = await run();
    await end();
    await end();
    expect(stream.transcript.text()).toContain(`-----> Release ${stream.releaseId}: rolling restart of 2 replica(s)\n`);
  });

  test("says under recreate what happens, and counts no replica that somebody stopped", async () => {
    await released();
    await it.apply(app({ rollout: { strategy: "recreate" } }));
    await it.quiet();
    const [first] = it.runtime.containers().filter(({ labels }) => labels["berth.role"] === undefined);
    await it.controller.stopPod(first?.name ?? "", { freeze: true, actor: "test" });
    const stream = await run();
    await end();
    await end();
    expect(stream.transcript.text()).toContain("replacing 1 replica(s), the old ones stop first (recreate)\n");
  });

  test("of a flood is bounded, and the release goes on", async () => {
    await it.apply(app({ release: { command: ["migrate"] } }));
    await it.quiet();
    for (let piece = 0; piece < 40; piece++) {
      it.runtime.writeLog(commands()[0] ?? "", `${"x".repeat(99)}\n`.repeat(1_000));
    }
    await end();
    await it.settle();
    const seen = follow();
    await it.quiet();
    expect(seen.ended).toBe(true);
    // What is kept, one piece more, and the lines around it.
    expect(seen.text.length).toBeLessThan(1024 * 1024 + 1_000);
    expect(latest().log.length).toBeLessThanOrEqual(64 * 1024);
  });

  test("of a release that ended before the server was started again ends too, with how it ended", async () => {
    await it.apply(app());
    await end();
    it.runtime.writeLog(commands()[0] ?? "", "migrated\n");
    await end();
    await end();
    await it.settle();
    await it.restart();
    const seen = follow();
    await it.quiet();
    expect(seen.ended).toBe(true);
    expect(seen.text).toContain("migrated\n");
    expect(seen.text).toEndWith(`-----> Release ${latest().id} succeeded\n`);
  });

  test("of a release that another one supersedes ends with that", async () => {
    await it.apply(app());
    await it.quiet();
    const first = latest().id;
    const seen = follow();
    await it.apply(app({ env: { V: "2" } }));
    await it.quiet();
    expect(seen.ended).toBe(true);
    expect(seen.text).toEndWith(`-----> Release ${first} failed: superseded by release ${latest().id}\n`);
  });

  test("of a resource that is deleted ends too", async () => {
    await it.apply(app());
    await it.quiet();
    const seen = follow();
    await it.controller.deleteManifest({ ...key }, { prune: false, actor: "ana" });
    await it.quiet();
    expect(seen.ended).toBe(true);
    expect(seen.text).toContain(" failed: ");
  });
});

describe("a server that goes away", () => {
  test("in the middle of a command leaves it running, and the next one waits for its end", async () => {
    await it.apply(app());
    await end();
    const [command = ""] = commands();
    const before = it.runtime.containers().find(({ name }) => name === command);
    it.runtime.writeLog(command, "half\n");
    await it.restart();
    expect(it.runtime.containers().find(({ name }) => name === command)).toMatchObject({
      id: before?.id ?? "",
      state: "running",
      startedAt: before?.startedAt ?? 0,
    });
    it.runtime.writeLog(command, "whole\n");
    const seen = follow();
    await end();
    expect(seen.text).toContain("half\nwhole\n");
    await end();
    await it.settle();
    expect(made()).toHaveLength(3);
    expect(latest()).toMatchObject({ status: "succeeded", preExitCode: 0, exitCode: 0, postExitCode: 0 });
  });

  test("when a command ends meanwhile, that is what counts", async () => {
    await it.apply(app());
    await end();
    const [command = ""] = commands();
    it.runtime.writeLog(command, "boom\n");
    await it.stop();
    it.runtime.finish(command, 9);
    await it.restart();
    await it.quiet();
    expect(latest()).toMatchObject({ status: "failed", exitCode: 9, error: "failed in command (exit 9)" });
    expect(latest().log).toContain("boom");
    expect(made()).toHaveLength(2);
  });

  test("between two commands does not run the first again", async () => {
    await it.apply(app());
    await end();
    await it.crash();
    await end();
    await it.settle(1_000);
    expect(made().map((call) => call.replace(/.*\.\w{9}/, ""))).toEqual(["-pre", "", "-post"]);
  });

  test("in the middle of the last command waits for that one too", async () => {
    await it.apply(app());
    await end();
    await end();
    const [command = ""] = commands();
    await it.crash();
    await it.advance(10 * 60_000 - 1);
    expect(commands()).toEqual([command]);
    await end(2);
    expect(latest()).toMatchObject({ status: "succeeded", postExitCode: 2 });
    expect([made().length, commands()]).toEqual([3, []]);
  });

  test("a limit of time goes on counting", async () => {
    await it.apply(app({ release: { command: ["migrate"], timeout: "60s" } }));
    await it.advance(50_000);
    await it.crash();
    await it.advance(11_000);
    expect(latest()).toMatchObject({ status: "failed", error: "failed in command (no end within its timeout)" });
  });
});

describe("an engine that goes away", () => {
  test("in the middle of a command fails nothing: the command goes on, and so does the release", async () => {
    await it.apply(app({ release: { command: ["migrate"] } }));
    await it.quiet();
    const [command = ""] = commands();
    it.runtime.engineDown();
    await it.advance(30_000);
    it.runtime.engineUp();
    await it.advance(5_000);
    expect(latest().status).toBe("pending");
    expect(commands()).toEqual([command]);
    await end();
    await it.settle();
    expect([latest().status, made().length]).toEqual(["succeeded", 1]);
  });

  test("before the first command is waited for", async () => {
    it.runtime.engineDown();
    await it.apply(app({ release: { command: ["migrate"] } }));
    await it.advance(60_000);
    expect(latest().status).toBe("pending");
    it.runtime.engineUp();
    await it.advance(5_000);
    await end();
    await it.settle();
    expect(latest().status).toBe("succeeded");
  });

  test("between plan and create is waited for", async () => {
    it.runtime.delay("create", 1_000);
    await it.apply(app({ release: { command: ["migrate"] } }));
    await it.quiet();
    it.runtime.engineDown();
    await it.advance(5_000);
    it.runtime.delay("create", 0);
    it.runtime.engineUp();
    await it.advance(10_000);
    await end();
    await it.settle();
    expect(latest().status).toBe("succeeded");
  });
});

describe("one release after the other", () => {
  test("commands of two releases never run side by side", async () => {
    await it.apply(app({ env: { V: "1" } }));
    await it.quiet();
    const first = latest().id;
    await it.apply(app({ env: { V: "2" } }));
    await it.advance(5_000);
    expect(commands()).toEqual([`shop-web-release.${first}-pre`]);
    await end();
    // Its own next command is not run any more.
    expect(commands()).toEqual([`shop-web-release.${latest().id}-pre`]);
    await end();
    await end();
    await end();
    await it.settle();
    expect(envs()).toEqual(["2", "2"]);
  });

  test("nor after the server was killed in between", async () => {
    await it.apply(app({ env: { V: "1" } }));
    await it.quiet();
    const first = latest().id;
    await it.apply(app({ env: { V: "2" } }));
    await it.quiet();
    await it.crash();
    await it.advance(5_000);
    expect(commands()).toEqual([`shop-web-release.${first}-pre`]);
    await end();
    await it.advance(5_000);
    expect(commands()).toEqual([`shop-web-release.${latest().id}-pre`]);
  });

  test("a command that hangs holds the next release up no longer than its limit", async () => {
    await it.apply(app({ env: { V: "1" }, release: { command: ["migrate"], timeout: "60s" } }));
    await it.quiet();
    const first = latest().id;
    await it.apply(app({ env: { V: "2" }, release: { command: ["migrate"], timeout: "60s" } }));
    await it.quiet();
    await it.crash();
    await it.advance(50_000);
    expect(commands()).toEqual([`shop-web-release.${first}`]);
    await it.advance(12_000);
    expect(commands()).toEqual([`shop-web-release.${latest().id}`]);
  });

  test("a rollback waits for the command that runs, and supersedes the rest", async () => {
    await released({ env: { V: "1" } });
    await it.apply(app({ env: { V: "2" } }));
    await it.quiet();
    const { new_release } = await it.controller.rollback(
      { scope: "shop", name: "web", releaseId: releases()[1]?.id },
      { actor: "ana" },
    );
    await it.quiet();
    expect(commands()).toHaveLength(1);
    await end();
    expect(commands()).toEqual([`shop-web-release.${new_release}-pre`]);
    expect(envs()).toEqual(["1", "1"]);
  });

  test("what a dead server left of commands that nobody waits for does not stay", async () => {
    await it.apply(app({ env: { V: "1" } }));
    await it.quiet();
    const { release: _, ...without } = app({ env: { V: "2" } }).spec;
    await it.apply({ ...app(), spec: without });
    await it.quiet();
    await it.crash();
    await it.settle();
    expect(commands()).toHaveLength(1);
    await it.advance(180_000);
    expect(commands()).toHaveLength(1);
    await end();
    await it.advance(180_000);
    expect(commands()).toEqual([]);
    expect(envs()).toEqual(["2", "2"]);
  });
});

describe("other commands, and nothing else", () => {
  const others = { command: ["migrate", "--all"] };
  const commandOf = () => it.runtime.containers().find(({ name }) => isCommand(name))?.command;

  test("start no release and replace nothing; an identical apply neither", async () => {
    await released();
    const before = { ids: releases().map(({ id }) => id), replicas: replicas().map(({ id }) => id) };
    for (const _ of [1, 2]) {
      await it.apply(app({ release: others }));
      await it.settle();
    }
    expect({ ids: releases().map(({ id }) => id), replicas: replicas().map(({ id }) => id) }).toEqual(before);
    expect(commands()).toEqual([]);
  });

  test("are those of the next deploy", async () => {
    await released();
    await it.apply(app({ release: others }));
    await it.apply(app({ release: others, env: { V: "2" } }));
    await it.quiet();
    expect([commands(), commandOf()]).toEqual([[`shop-web-release.${latest().id}`], others.command]);
    await end();
    await it.settle();
    expect([latest().status, envs()]).toEqual(["succeeded", ["2", "2"]]);
  });

  test("are those of the next release run", async () => {
    await released();
    await it.apply(app({ release: others }));
    const stream = await run();
    await it.quiet();
    expect([stream.releaseId, commandOf()]).toEqual([latest().id, others.command]);
    await end();
    await it.settle();
    expect(latest()).toMatchObject({ cause: "release_run", status: "succeeded" });
  });
});
