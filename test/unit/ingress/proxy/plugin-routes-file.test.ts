import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { heldRoutesIn } from "../../../../src/ingress/proxy/plugin-routes-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "routes."));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("routes are read as they were written; without a file, or with a broken one, there are none", async () => {
  const path = join(folder, "plugin-routes.json");
  const file = heldRoutesIn(path);
  expect(await file.read()).toEqual([]);
  const route = { id: "shop/web", plugin: "front", app: "shop-web" };
  await file.write([route]);
  expect(await file.read()).toEqual([route]);
  for (const text of ["", "{", "{}", '[{"id":1},null]']) {
    writeFileSync(path, text);
    expect(await file.read()).toEqual([]);
  }
});
