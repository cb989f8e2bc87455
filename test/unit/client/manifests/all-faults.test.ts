// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { expect, test } from "bun:test";
import { withCheckFaults } from "../../../../src/client/manifests/all-faults.ts";
import { readManifests } from "../../../../src/client/manifests/read.ts";
import { clientLimits, limits } from "../../../../src/config/config.ts";
import { folder } from "../../../support/files.ts";

/** What a command says of files: the first line of each fault, in order. */
async function said(files: Record<string, string>, paths: string[] = Object.keys(files)): Promise<string[]> {
  using place = folder(files);
  const setup = { cwd: place.path, stdin: async () => "", variables: {}, limits: clientLimits };
  const error = await readManifests(paths, setup).then(
    () => undefined,
    (thrown: unknown) => withCheckFaults(thrown, { validation: limits, limits: clientLimits }),
  );
  return error instanceof Error ? error.message.split("\n\n").map((part) => part.split("\n")[0] ?? "") : [];
}

const web = "kind: deployment\nscope: shop\nname: web\nspec:\n";

test("an unset variable hides no other fault, and is told once", async () => {
  const text = `${web}  image: "\${IMAGE}"\n  replicas: \${COUNT}\n  restart: perhaps\n`;
  expect(await said({ "a.yaml": text })).toEqual([
    'a.yaml:5:11: variable "IMAGE" is not set: export it, or write ${IMAGE:-default}',
    'a.yaml:6:13: variable "COUNT" is not set: export it, or write ${COUNT:-default}',
    expect.stringContaining('a.yaml:7:12: spec.restart: "perhaps" is not a restart policy'),
  ]);
});

test("a document that is no YAML, missing files and files of other tools hide no fault of the rest", async () => {
  const files = { "a.yaml": `${web}  replicas: three\n---\na: [\n`, "compose.yaml": "services:\n  web: {image: x}\n" };
  expect(await said(files, ["a.yaml", "none.yaml", "compose.yaml", "gone.yaml"])).toEqual([
    'a.yaml:5:13: spec.replicas: expected integer, got string "three"',
    expect.stringMatching(/^a\.yaml:8:1: /),
    '"none.yaml" does not exist',
    '"gone.yaml" does not exist',
    "compose.yaml: this is a Compose file: berth import compose compose.yaml > app.yaml",
  ]);
});

test("a file for an asset that is missing does not make its references wrong", async () => {
  const asset = "kind: asset\nscope: shop\nname: conf\nspec: {files: {a: !file none.txt}}\n";
  const reader = `${web}  image: x\n  volumes: ["\${asset.shop.conf.a}:/a:ro"]\n`;
  expect(await said({ "a.yaml": `${asset}---\n${reader}` })).toEqual(['a.yaml:4:25: "none.txt" does not exist']);
});

test("one missing file alone is told as before", async () => {
  expect(await said({}, ["none.yaml"])).toEqual(['"none.yaml" does not exist']);
});
