import { expect, test } from "bun:test";
import { ApiError, type Client } from "../../../../src/base/wire/client.ts";
import type { DatabaseRestore } from "../../../../src/backups/api/databases.ts";
import type { Cluster } from "../../../../plugins/kit/cluster.ts";
import { requireSameImage } from "../../../../plugins/postgres/commands/restore-at.ts";

/** What the command says of a base backup of one image, where the first pod that runs has another one; undefined: it goes on. */
async function saidOf({ base, runs, answer }: { base: string; runs: boolean; answer: () => string }) {
  const plan = { image: "postgres:17", image_id: base, version: "17.2" } as DatabaseRestore;
  const pods = [
    { name: "data-main.0", running: false },
    { name: "data-main.1", running: runs },
  ];
  const asked: unknown[] = [];
  const api = {
    call: async (_endpoint: unknown, input: { params: { name: string } }) => {
      asked.push(input.params.name);
      return { pod: { image_id: answer() } };
    },
  } as unknown as Client;
  const error = await requireSameImage(api, { pods } as unknown as Cluster, plan).then(
    () => undefined,
    (thrown: unknown) => thrown as Error,
  );
  return { asked, name: error?.constructor.name, text: error?.message };
}

test("a base backup of the image that runs is restored", async () => {
  const said = await saidOf({ base: "sha256:one", runs: true, answer: () => "sha256:one" });
  expect(said).toEqual({ asked: ["data-main.1"], name: undefined, text: undefined });
});

test("one of another image is refused, with both images and the ways out", async () => {
  const { name, text } = await saidOf({ base: "sha256:one", runs: true, answer: () => "sha256:two" });
  expect(name).toBe("PluginError");
  for (const part of ["postgres:17 (sha256:one, PostgreSQL 17.2)", "--reindex", "--image IMAGE"])
    expect(text).toContain(part);
});

test.each([
  ["an older version wrote no image down", { base: "", runs: true }],
  ["no pod runs", { base: "sha256:one", runs: false }],
])("where %s, there is nothing to compare", async (_why, given) => {
  expect(await saidOf({ ...given, answer: () => "sha256:two" })).toEqual({
    asked: [],
    name: undefined,
    text: undefined,
  });
});

test("a server that does not answer about the pod is told as a fault of the command", async () => {
  const said = await saidOf({
    ...{ base: "sha256:one", runs: true },
    answer: () => {
      throw new ApiError(404, "no such pod");
    },
  });
  expect([said.name, said.text]).toEqual(["PluginError", "no such pod"]);
});
