import { expect, test } from "bun:test";
import { limits } from "../../../../src/config/config.ts";
import type { CoreKind } from "../../../../src/orchestration/api/manifest.ts";
import { specHash } from "../../../../src/orchestration/core/spec-hash.ts";
import { validateSpec } from "../../../../src/orchestration/core/validate.ts";
import { parseVolumeOwner } from "../../../../src/orchestration/core/volume-owner.ts";

test.each([
  ["1000", { uid: 1000, gid: undefined }],
  ["1000:1001", { uid: 1000, gid: 1001 }],
  ["0:0", { uid: 0, gid: 0 }],
  ["2147483647:2147483647", { uid: 2_147_483_647, gid: 2_147_483_647 }],
])("%s is an owner", (text, owner) => {
  expect(parseVolumeOwner(text)).toEqual({ ok: true, value: owner });
});

test.each([
  ["", "is not an owner"],
  ["node", 'write the numbers of user and group: "1000" or "1000:1000"'],
  ["1000:node", "is not an owner"],
  ["-1", "is not an owner"],
  ["1000:-1", "is not an owner"],
  ["1000:", "is not an owner"],
  [":1000", "is not an owner"],
  ["1:2:3", "is not an owner"],
  ["1.5", "is not an owner"],
  ["0x10", "is not an owner"],
  [" 1000", "is not an owner"],
  ["2147483648", "has the number 2147483648; at most 2147483647 is possible"],
  ["1:4294967295", "has the number 4294967295"],
  ["99999999999999999999", "is not an owner"],
])("%j is refused: %s", (text, reason) => {
  const owner = parseVolumeOwner(text);
  expect(owner.ok ? "" : owner.error).toContain(reason);
});

test.each<[CoreKind, (spec: object) => object, string]>([
  ["deployment", (spec) => spec, "spec.volume_owner"],
  ["statefulset", (spec) => spec, "spec.volume_owner"],
  ["job", (spec) => spec, "spec.volume_owner"],
  ["cronjob", (job) => ({ schedule: "* * * * *", job }), "spec.job.volume_owner"],
])("a %s is refused with a name for an owner, at its path", (kind, specOf, path) => {
  const faults = (owner: string) =>
    validateSpec(kind, specOf({ image: "web:1", volumes: ["data:/data"], volume_owner: owner }), limits);
  expect(faults("1000:1000")).toEqual([]);
  expect(faults("node").map((problem) => problem.path)).toEqual([path]);
});

test("the owner is part of the spec hash, so that containers are made again with it", () => {
  const hash = (spec: object) => specHash("deployment", { image: "web:1", ...spec });
  expect(new Set([hash({}), hash({ volume_owner: "1" }), hash({ volume_owner: "2" })]).size).toBe(3);
});
