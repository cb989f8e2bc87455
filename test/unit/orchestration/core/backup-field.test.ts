import { describe, expect, test } from "bun:test";
import { limits } from "../../../../src/config/config.ts";
import { podOf } from "../../../../src/orchestration/core/spec/decode.ts";
import { specHash } from "../../../../src/orchestration/core/spec-hash.ts";
import { rolledBackSpec } from "../../../../src/orchestration/core/rollback.ts";
import { validateSpec } from "../../../../src/orchestration/core/validate.ts";

const spec = {
  image: "x:1",
  volumes: ["cache:/cache", "/srv/files:/files"],
  volume_claims: [{ name: "data", mount_path: "/data" }],
};
const problems = (backup: unknown, more: object = {}) =>
  validateSpec("statefulset", { ...spec, ...more, backup }, limits).map(({ path, message }) => `${path}: ${message}`);

describe("the field backup", () => {
  test("is complete with nothing in it, and has its defaults", () => {
    expect(problems({})).toEqual([]);
    const decoded = podOf({ kind: "statefulset", spec: { ...spec, backup: {} } })?.backup;
    expect(decoded).toEqual({
      ...{ everyMs: 86_400_000, everyText: "24h", keep: undefined, target: undefined, volumes: undefined },
      ...{ pre: [], post: [], exclude: [] },
    });
    expect(podOf({ kind: "statefulset", spec })?.backup).toBeUndefined();
  });

  test("takes each of its parts", () => {
    const backup = { every: "6h", keep: "7d 4w 12m", target: "offsite", volumes: ["data"], exclude: ["cache/**"] };
    expect(problems({ ...backup, pre: ["sh", "-c", "dump"], post: ["true"] })).toEqual([]);
  });

  test.each([
    [{ every: "soon" }, 'spec.backup.every: "soon" is not a duration'],
    [{ every: "5s" }, 'spec.backup.every: "5s" is too often; write 1m or more'],
    [{ every: "0" }, 'spec.backup.every: "0" is too often'],
    [{ keep: "all" }, 'spec.backup.keep: what to keep is written like "7d 4w 12m"'],
    [{ target: "../x" }, 'spec.backup.target: "../x" is not the name of a target'],
    [
      { volumes: ["files"] },
      'spec.backup.volumes[0]: "files" is not a volume or claim of this app; write one of data, cache',
    ],
    [{ volumes: [] }, "spec.backup.volumes: must not be empty"],
    [{ pre: [] }, "spec.backup.pre: must not be empty"],
    [{ post: ["a\0b"] }, "spec.backup.post[0]:"],
    [{ exclude: ["/etc"] }, 'spec.backup.exclude[0]: "/etc" is not a path in the volume'],
    [{ exclude: ["../other"] }, 'spec.backup.exclude[0]: "../other" has a part "." or ".."'],
    [{ exclude: ["!a"] }, "spec.backup.exclude[0]:"],
    [{ exclude: ["**"] }, 'spec.backup.exclude[0]: "**" leaves out everything'],
    [{ exclude: Array.from({ length: limits.backup.wordsMax + 1 }, (_, at) => `a${at}`) }, "spec.backup.exclude: has"],
    [{ exclude: ["[a]".repeat(100_000)] }, "spec.backup.exclude[0]: has 300000 characters; at most 4096 are allowed"],
    [{ evry: "1h" }, "spec.backup.evry:"],
    [false, "spec.backup:"],
  ])("%j is refused with its path", (backup, start) => {
    const found = problems(backup);
    expect(found).toHaveLength(1);
    expect(found[0]).toStartWith(start);
  });

  // restic refuses them, and with them each copy of the volume.
  test.each(["[", "a[", "x/[]", "[^]", "[^]a]", "[a-]", "[-a]", "[a-b-c]", "[a/b]", "a\\"])(
    "exclude %j is not a pattern",
    (odd) => {
      expect(problems({ exclude: [odd] })).toEqual([
        `spec.backup.exclude[0]: "${odd}" is not a pattern: close each "[", and write "\\[" for the bracket itself`,
      ]);
    },
  );

  test.each(["a]", "[b-a]", "[!a]", "[^a]b", "[a-c]*/x?", "a\\[b", "[\\]]", "{a", "-x", "$HOME"])(
    "exclude %j is a pattern",
    (pattern) => {
      expect(problems({ exclude: [pattern] })).toEqual([]);
    },
  );

  test("is refused where there is no volume to copy", () => {
    const bare = { volumes: ["/srv/files:/files"], volume_claims: [] };
    expect(problems({}, bare)).toEqual([
      "spec.backup: has nothing to copy: the app has no volume and no volume claim; folders of the machine are not copied",
    ]);
  });

  test("replaces no container, and a rollback keeps it", () => {
    const backup = { every: "6h", pre: ["dump"] };
    expect(specHash("statefulset", { ...spec, backup })).toBe(specHash("statefulset", spec));
    expect(rolledBackSpec(spec, { ...spec, image: "x:2", backup }, () => 0)).toEqual({ ...spec, backup });
  });
});
