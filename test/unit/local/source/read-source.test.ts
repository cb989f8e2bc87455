import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pack } from "tar-stream";
import { answerTo } from "../../../../src/local/source/read-source.ts";

let work: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), "berth-source-"));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

async function answerFor(files: Record<string, string>) {
  const archive = pack();
  for (const [name, text] of Object.entries(files)) archive.entry({ name }, text);
  archive.finalize();
  const file = join(work, "upload");
  writeFileSync(file, Buffer.concat((await Array.fromAsync(archive as AsyncIterable<Uint8Array>)) as Uint8Array[]));
  return answerTo({ type: "archive", scope: "shop", name: "web", host: undefined, work, file, isFolder: false });
}

const web = "kind: deployment\nscope: shop\nname: web\nspec:\n";

test.each<[string, Record<string, string>, string]>([
  ["a manifest that is no YAML", { "berth.yaml": "kind: [\n" }, 'berth.yaml:2:1: expected "]"'],
  ["a manifest with another name of HCL", { "berth.voodu": 'app "shop" {\n' }, "berth.voodu:2:1: "],
  ["a manifest in the one folder of an archive", { "shop-1.0/berth.yaml": "kind: [\n" }, "berth.yaml:2:1: expected"],
  [
    "a Dockerfile that is not there",
    { "berth.yaml": `${web}  build: { dockerfile: none }\n` },
    'shop/web: build.dockerfile: "none" does not exist in the source',
  ],
])("%s is told by its path in the source", async (_, files, text) => {
  expect(await answerFor(files)).toEqual({ failure: { code: "invalid", message: expect.stringMatching(start(text)) } });
});

const start = (text: string) => new RegExp(`^${RegExp.escape(text)}`);
