import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contextDigest } from "../../../../src/base/pure/source-tree.ts";
import { ApiError } from "../../../../src/base/wire/client.ts";
import { Failure } from "../../../../src/base/wire/failure.ts";
import { readFolder, type SourceFolder } from "../../../../src/client/build/folder.ts";
import { uploadFolder } from "../../../../src/client/build/run.ts";
import type { Context } from "../../../../src/client/shell/command.ts";
import { type World, world } from "../../../support/world.ts";

let it: World;
let root: string;
let folder: SourceFolder;
let digest: string;
beforeEach(async () => {
  it = await world();
  root = mkdtempSync(join(tmpdir(), "upload-"));
  // It does not get smaller, so that it takes several parts.
  writeFileSync(join(root, "data"), randomBytes(3_000_000));
  folder = await readFolder(root, [], { filesMax: 10, bytesMax: 10_000_000, textBytesMax: 1_000_000 });
  digest = contextDigest(folder.entries);
});
afterEach(async () => {
  await it.close();
  rmSync(root, { recursive: true });
});

/** A client of the controller of the world; counts the parts that the server took. */
function client() {
  const counts = { taken: 0 };
  const call = async (
    { method }: { method: string },
    { query, body }: { query?: { offset: string; last?: string }; body?: Uint8Array },
  ) => {
    if (method === "GET" || query === undefined) return it.controller.contextState(digest);
    try {
      const at = { offset: Number(query.offset), last: query.last === "true" };
      const answer = await it.controller.uploadContext(digest, body ?? new Uint8Array(), at);
      counts.taken += 1;
      return answer;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new ApiError(409, error.message, { reason: error.reason, fields: error.fields } as never);
    }
  };
  return { counts, context: { api: { call } } as unknown as Context };
}

test("clients that upload the same folder at the same time share the work, and all succeed", async () => {
  const clients = Array.from({ length: 4 }, client);
  await Promise.all(clients.map(({ context }) => uploadFolder(context, folder, digest)));
  expect(await it.controller.contextState(digest)).toMatchObject({ complete: true });
  await uploadFolder(client().context, folder, digest);
});
