import { afterEach, beforeEach, expect, test } from "bun:test";
import { backupsVolume } from "../../src/orchestration/api/manifest-key.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { fixtureImage } from "../support/manifests.ts";
import { type Ask, plane } from "../support/plane.ts";
import { testPlugins, writePlugin } from "../support/plugins.ts";
import { type World, world } from "../support/world.ts";

/** Volumes that plugins name after their block, as the bundled ones name those of their backups. */

let it: World;
let ask: Ask;
beforeEach(async () => {
  it = await world({ plugins: (layout) => testPlugins(layout) });
  ask = plane(it);
  for (const name of ["db", "cache"]) plugin(name);
});
afterEach(() => it.close());

/** What it makes mounts `<prefix>-<scope>-<name>-backups`, and the volume that the block writes. */
function plugin(name: string): void {
  const value = (field: string) => `$(printf %s "$input" | sed -n 's/.*"'"${field}"'":"\\([^"]*\\)".*/\\1/p')`;
  const volume = backupsVolume({ envPrefix: "BERTH" }, { scope: value("scope"), name: value("name") });
  const volumes = `"${volume}:/backups","${value("more")}:/more"`;
  const spec = `{"image":"${fixtureImage}","volumes":[${volumes}]}`;
  writePlugin(it.layout, name, {
    yml: `name: ${name}\n`,
    commands: {
      expand: `input=$(cat)\ncat <<END\n{"kind":"deployment","name":"${value("name")}","spec":${spec}}\nEND`,
    },
  });
}

const block = (kind: string, scope: string, name: string, more = "data") => ({ kind, scope, name, spec: { more } });
const volume = "berth-a-b-c-backups";

async function applied(kind: string, scope: string, name: string, more?: string) {
  const { status, error } = await ask("POST /apply", block(kind, scope, name, more));
  if (status === 200) await it.settle();
  return { status, error };
}

async function deleted(kind: string, scope: string, name: string, prune: boolean): Promise<void> {
  const deleting = it.controller.deleteManifest({ kind, scope, name }, { prune, actor: "ana" });
  await it.advance(1_000);
  await deleting;
}

const fine = { status: 200, error: "" };
const refusedFor = (owner: string, at: string) => ({
  status: 409,
  error: expect.stringContaining(
    `${at}: spec.volumes[0]: the volume "${volume}" holds what ${owner} has left; use another scope or name, or remove the volume when its ` +
      `data is not needed any more: docker volume rm ${volume}`,
  ),
});

test.each([true, false])("two blocks whose names read the same do not share a volume; pruned: %p", async (prune) => {
  expect(await applied("db", "a", "b-c")).toEqual(fine);
  // As long as both are there, their containers would have the same name.
  expect(await applied("db", "a-b", "c")).toMatchObject({ status: 409 });
  await deleted("db", "a", "b-c", prune);
  expect(await applied("db", "a-b", "c")).toEqual(refusedFor("db/a/b-c", "db/a-b/c: deployment/a-b/c"));
  expect((await ask("POST /apply?dry_run=true", block("db", "a-b", "c"))).status).toBe(409);
  expect(it.store.blocks.list()).toEqual([]);
  // The block itself comes back to its volume, and goes on.
  expect(await applied("db", "a", "b-c")).toEqual(fine);
  expect(await applied("db", "a", "b-c", "other")).toEqual(fine);
  await deleted("db", "a", "b-c", prune);
  it.runtime.removeVolumeByHand(volume);
  expect(await applied("db", "a-b", "c")).toEqual(fine);
});

test("a block of another kind does not get the volume either", async () => {
  expect(await applied("db", "a", "b-c")).toEqual(fine);
  await deleted("db", "a", "b-c", false);
  expect(await applied("cache", "a", "b-c")).toEqual(refusedFor("db/a/b-c", "cache/a/b-c: deployment/a/b-c"));
});

test("a volume that a restore has made is that of the block, too", async () => {
  expect(await applied("db", "a", "b-c")).toEqual(fine);
  const made = it.running.volumes.list().find((one) => one.volume === volume);
  it.runtime.removeVolumeByHand(volume);
  await it.running.volumes.make(volume, made?.labels ?? {});
  await deleted("db", "a", "b-c", true);
  expect(await applied("cache", "a", "b-c")).toEqual(refusedFor("db/a/b-c", "cache/a/b-c: deployment/a/b-c"));
});

test("a volume of an older version has only its scope, or no owner: its rows tell, and a block that has it keeps it", async () => {
  const { label } = naming();
  it.runtime.addVolumeByHand(volume, { [label.scope]: "a", [label.volume]: volume });
  expect(await applied("db", "a-b", "c")).toEqual(refusedFor("scope a", "db/a-b/c: deployment/a-b/c"));
  expect(await applied("db", "a", "b-c")).toEqual(fine);
  await deleted("db", "a", "b-c", true);
  it.runtime.removeVolumeByHand(volume);
  it.runtime.addVolumeByHand(volume);
  expect(await applied("db", "a-b", "c")).toEqual(fine);
  await deleted("db", "a-b", "c", false);
  expect(await applied("cache", "a", "b-c")).toEqual(refusedFor("deployment/a-b/c", "cache/a/b-c: deployment/a/b-c"));
  expect(await applied("db", "a-b", "c")).toEqual(fine);
});

test("a volume that the block itself writes may be of anybody", async () => {
  expect(await applied("db", "a", "b-c")).toEqual(fine);
  expect(await applied("cache", "ops", "copy", volume)).toEqual(fine);
  await deleted("db", "a", "b-c", false);
  // Another volume whose name goes on is not this one.
  expect(await applied("db", "a-b", "c", `${volume}-2`)).toMatchObject({ status: 409 });
  expect(await applied("db", "a-b", "c", "of-a")).toMatchObject({ status: 409 });
});
