import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import type { ReleaseStream } from "../../../../../src/orchestration/controller/state/transcript.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const release = { command: ["migrate"] };
const web = (spec: Spec = {}) => deployment("shop", "web", { release, ...spec });
const run = (follow = false) => it.controller.runRelease({ name: "web" }, { follow, actor: "ana" });
const releases = () => it.store.releases.list(keyOf("deployment", "shop", "web"));
const phase = () => it.runtime.containers().find(({ name }) => name.includes("-release."))?.name ?? "";

/** The command of the phase prints and ends. */
async function endPhase(exitCode = 0): Promise<void> {
  await it.quiet();
  it.runtime.writeLog(phase(), "migrating\n");
  it.runtime.crash(phase(), exitCode);
  await it.quiet();
}

/** All that a follower reads, once nothing more comes. */
async function read({ transcript }: ReleaseStream): Promise<string> {
  let text = "";
  for await (const piece of transcript.follow(AbortSignal.timeout(4_000))) text += Buffer.from(piece).toString();
  return text;
}

test("is refused while the engine is away, also where an apply has begun it", async () => {
  it.runtime.engineDown();
  await it.quiet();
  await it.apply(web());
  await expectFailure(run(), "unavailable");
});

async function started(): Promise<void> {
  await it.apply(web());
  await endPhase();
  await it.settle();
}

describe("a release that is under way", () => {
  test("without the commands that are stored now is not what the caller gets: they run", async () => {
    await it.apply(web({ release: undefined }));
    await it.quiet();
    expect(releases()).toHaveLength(1);
    await it.apply(web());
    const stream = await run();
    expect(stream.releaseId).not.toBe(releases().at(-1)?.id);
    await endPhase(4);
    expect(await read(stream)).toContain("failed in command (exit 4)");
  });

  test("of two callers at once, one gets a release and the other a conflict", async () => {
    await started();
    const settled = await Promise.allSettled([run(), run()]);
    expect(settled.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(releases().filter(({ endedAt }) => endedAt === undefined)).toHaveLength(1);
  });
});

describe("the output of a release", () => {
  test("ends with one line that says how it went", async () => {
    await started();
    const stream = await run();
    await endPhase();
    await it.settle();
    const id = stream.releaseId;
    expect(await read(stream)).toBe(
      [
        `-----> Release ${id}: command`,
        "migrating",
        `-----> Release ${id}: rolling restart of 1 replica(s)`,
        `-----> Release ${id} succeeded`,
        "",
      ].join("\n"),
    );
  });

  test("ends where another release takes its place", async () => {
    await started();
    const stream = await run();
    await it.quiet();
    await it.apply(web({ env: { A: "1" } }));
    await endPhase();
    await endPhase();
    await it.settle();
    const [next] = releases();
    expect(await read(stream)).toEndWith(
      `-----> Release ${stream.releaseId} failed: superseded by release ${next?.id}\n`,
    );
  });

  test("ends where the deployment is deleted", async () => {
    await started();
    const stream = await run();
    await endPhase();
    await it.controller.deleteManifest({ kind: "deployment", name: "web" }, { prune: false, actor: "ana" });
    await it.settle();
    expect(await read(stream)).toMatch(/-----> Release [0-9a-z]{9} (failed: it was deleted|succeeded)\n$/);
  });

  test("of one that is long over comes from its record, also after a restart of the server", async () => {
    await started();
    await it.restart();
    await it.settle();
    const stream = await run(true);
    expect(await read(stream)).toBe(
      `-----> Release ${stream.releaseId}: command\nmigrating\n-----> Release ${stream.releaseId} succeeded\n`,
    );
  });
});

describe("a release is refused", () => {
  test("to a second caller while it is under way, who may follow", async () => {
    await started();
    const first = await run();
    await it.quiet();
    expect((await expectFailure(run(), "conflict")).message).toContain(`release ${first.releaseId}`);
    const second = await run(true);
    await endPhase();
    await it.settle();
    expect(await read(second)).toBe(await read(first));
  });

  test("without a release block", async () => {
    await it.apply(web({ release: undefined }));
    await it.settle();
    expect((await expectFailure(run(), "invalid")).message).toContain("no release block");
  });
});
