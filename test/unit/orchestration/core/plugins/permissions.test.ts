import { expect, test } from "bun:test";
import type { CoreKind, Spec } from "../../../../../src/orchestration/api/manifest.ts";
import {
  expansionProblems,
  manifestProblems,
  permissionProblems,
} from "../../../../../src/orchestration/core/plugins/permissions.ts";

const granted = { actions: ["apply_manifest" as const], scopes: ["mine", "friend"], docker: false, root: false };
const draft = (kind: CoreKind, spec: Spec) => ({ kind, scope: "mine", name: "x", spec });
const paths = (kind: CoreKind, spec: Spec, blockSpec?: Spec) =>
  manifestProblems(draft(kind, spec), granted, blockSpec).map(({ path }) => path);

const refused: [string, CoreKind, Spec, string][] = [
  ["the root folder", "deployment", { volumes: ["/:/host"] }, "spec.volumes[0]"],
  ["a host path", "statefulset", { volumes: ["data:/d", "/etc:/e:ro"] }, "spec.volumes[1]"],
  ["a host path of a cronjob", "cronjob", { job: { volumes: ["/:/host"] } }, "spec.job.volumes[0]"],
  ["a volume of another scope", "job", { volumes: ["other/data:/d"] }, "spec.volumes[0]"],
  ["an external volume", "job", { volumes: ["data:/d:external"] }, "spec.volumes[0]"],
  ["an asset of another scope as a volume", "job", { volumes: ["${asset.other.a.b}:/d"] }, "spec.volumes[0]"],
  ["an asset of another scope in a variable", "job", { env: { A: "${asset.other.a.b}" } }, "spec.env.A"],
  ["a listed asset of another scope", "job", { depends_on: { assets: ["other.a.b"] } }, "spec.depends_on.assets[0]"],
  [
    "an asset of another scope in an init",
    "deployment",
    { inits: [{ name: "i", command: ["cat", "${asset.other.a.b}"] }] },
    "spec.inits[0].command[1]",
  ],
  [
    "an asset of another scope that a webhook sends away",
    "deployment",
    { on_deploy: { success: [{ url: "http://x", file: "${asset.other.a.b}" }] } },
    "spec.on_deploy.success",
  ],
  ["config of another scope", "job", { env_from: ["x", "other/app"] }, "spec.env_from[1]"],
  ["the network of the machine", "job", { network_mode: "host" }, "spec.network_mode"],
  ["a capability", "job", { cap_add: ["SYS_ADMIN"] }, "spec.cap_add[0]"],
  ["an option", "job", { docker_options: ["--privileged"] }, "spec.docker_options[0]"],
  [
    "an option after a harmless one",
    "job",
    { docker_options: ["--entrypoint sh", "--pid host"] },
    "spec.docker_options[1]",
  ],
  [
    "an option of an init",
    "deployment",
    { inits: [{ name: "i", command: ["x"], docker_options: ["--device /dev/sda"] }] },
    "spec.inits[0].docker_options[0]",
  ],
  ["a line for the machine's shell", "deployment", { post_deploy: ["id"] }, "spec.post_deploy[0]"],
  [
    "a file that the server fetches",
    "asset",
    { files: { a: { _source: "url", url: "http://127.0.0.1/" } } },
    "spec.files.a",
  ],
  ["a program of the machine", "registry", { url: "r", helper: "pass" }, "spec.helper"],
];

for (const [what, kind, spec, path] of refused) {
  test(`${what} is not for a plugin without root`, () => {
    expect(paths(kind, spec)).toEqual([path]);
    const asked = { ...granted, root: true };
    expect(manifestProblems(draft(kind, spec), asked, undefined)).toEqual([]);
    expect(manifestProblems(draft(kind, spec), { ...granted, docker: true }, undefined)).toEqual([]);
  });
}

test("volumes, assets and config of the scopes that were granted are, and what stays inside of a container", () => {
  const spec = {
    volumes: ["data:/d", "mine/data:/e", "friend/data:/f", "${asset.friend.a.b}:/g", "${asset.a.b}:/h"],
    env_from: ["x", "mine/app", "friend/app"],
    docker_options: ["--entrypoint sh", "--shm-size 256m"],
    network_mode: "bridge",
    ports: ["0.0.0.0:80:80"],
    inits: [{ name: "i", command: ["x"] }],
    release: { command: ["x"] },
  };
  expect(paths("deployment", spec)).toEqual([]);
  expect(paths("asset", { files: { a: "text", b: { _source: "file", content: "YQ==" } } })).toEqual([]);
});

test("what the operator wrote into the block is the operator's own, in that field alone", () => {
  const spec = { volumes: ["/srv:/d"], cap_add: ["NET_ADMIN"], env_from: ["other/app"] };
  expect(paths("statefulset", spec, { pods: { volumes: ["/srv:/d"] }, ...spec })).toEqual([]);
  expect(paths("statefulset", spec, { text: ["/srv:/d", "NET_ADMIN"], env_from: ["other/app"] })).toEqual([
    "spec.volumes[0]",
    "spec.cap_add[0]",
  ]);
});

test("a problem names the place, the value, and what plugin.yml has to ask for", () => {
  const bad = draft("job", { volumes: ["/:/host"] });
  const message = '"/:/host" mounts a path of the machine; its plugin.yml has to ask for root under permissions';
  expect(expansionProblems([bad], granted, {})).toEqual([{ path: "job/mine/x: spec.volumes[0]", message }]);
  const action = { type: "apply_manifest" as const, draft: bad, path: "", label: "" };
  expect(permissionProblems([action], granted, () => undefined)).toEqual([
    { path: "actions[0].manifest.spec.volumes[0]", message },
  ]);
});
