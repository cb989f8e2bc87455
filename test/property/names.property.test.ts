import { expect, test } from "bun:test";
import fc from "fast-check";
import { subjectTags, whatOf } from "../../src/backups/core/subject.ts";
import { backupsVolume } from "../../src/orchestration/api/manifest-key.ts";
import {
  claimVolumeName,
  containerName,
  keptImageTag,
  naming,
  networkAliases,
  scopedVolumeName,
} from "../../src/orchestration/core/naming.ts";
import { attachedRunName, releaseContainerName } from "../../src/orchestration/core/one-off-spec.ts";
import { duplicateReservations } from "../../src/orchestration/core/reservations.ts";

/** What is named after scope and name in one word: `a/b-c` and `a-b/c` read the same. */

const names = naming();
/** Few letters, so that many pairs read the same; `berth` is also the last label of long host names. */
const scope = fc.oneof(fc.stringMatching(/^[ab](-[ab0]){0,2}$/), fc.constant("berth"));
const name = fc.oneof(fc.stringMatching(/^[ab]([-.][ab0]){0,3}$/), fc.stringMatching(/^[ab](-release)?(-[0-2])?$/));
const claims = fc.uniqueArray(fc.stringMatching(/^[ab](-[ab0]){0,2}$/), { minLength: 1, maxLength: 2 });
const app = fc.record({
  ...{ kind: fc.constantFrom("deployment" as const, "statefulset" as const), scope, name, claims },
  releases: fc.boolean(),
});
type App = typeof app extends fc.Arbitrary<infer T> ? T : never;

const ordinals = [0, 1, 2];

/** Every name in the engine that follows from an app. */
function namesOf({ kind, scope: of, name: called, claims: claimed, releases }: App): string[] {
  const owner = { scope: of, name: called };
  const ids = kind === "statefulset" ? ordinals.map(String) : ["0a1b"];
  const volumes = claimed.flatMap((claim) => ordinals.map((ordinal) => claimVolumeName(names, owner, claim, ordinal)));
  const aliases = [undefined, ...ordinals].flatMap((ordinal) => networkAliases(names, owner, ordinal));
  return [
    ...ids.map((id) => `container ${containerName(of, called, id)}`),
    `container ${attachedRunName(owner, "0a1b")}`,
    ...(releases && kind === "deployment" ? [`container ${releaseContainerName(owner, "0a1b", "main")}`] : []),
    ...(kind === "statefulset" ? volumes : []).map((volume) => `volume ${volume}`),
    `volume ${backupsVolume(names, owner)}`,
    `volume ${scopedVolumeName(names, of, called)}`,
    `image ${keptImageTag(names, { ...owner, imageId: "sha256:0a1b2c3d4e5f" })}`,
    ...(kind === "statefulset" ? aliases : networkAliases(names, owner, undefined)).map((alias) => `host ${alias}`),
  ];
}

function draftOf({ kind, scope: of, name: called, claims: claimed, releases }: App) {
  const spec =
    kind === "statefulset"
      ? { image: "i", volume_claims: claimed.map((claim) => ({ name: claim, mount_path: `/${claim}` })) }
      : { image: "i", ...(releases ? { release: { command: ["x"] } } : {}) };
  return { kind, scope: of, name: called, spec };
}

test("two apps that would share a name in the engine cannot both be stored", () => {
  let shared = 0;
  fc.assert(
    fc.property(app, app, (one, other) => {
      if (one.scope === other.scope && one.name === other.name) return;
      const known = new Set(namesOf(one));
      const both = namesOf(other).filter((each) => known.has(each));
      if (both.length === 0) return;
      shared += 1;
      const isRefused = duplicateReservations([draftOf(one), draftOf(other)]).length > 0;
      expect({ both, isRefused }).toEqual({ both, isRefused: true });
    }),
    { numRuns: 20_000 },
  );
  expect(shared).toBeGreaterThan(20);
});

test("volumes of scopes and copies of volumes have names of which none is that of another", () => {
  const subject = fc.record({
    ...{ scope, kind: fc.constantFrom("deployment", "statefulset"), name, claim: name },
    ordinal: fc.option(fc.nat(2), { nil: undefined }),
  });
  fc.assert(
    fc.property(subject, subject, (one, other) => {
      const isSame = Bun.deepEquals(one, other);
      expect(subjectTags(one).join(",") === subjectTags(other).join(",")).toBe(isSame);
      if (one.kind === other.kind) expect(whatOf(one) === whatOf(other)).toBe(isSame);
      const volumes = [one, other].map((each) => scopedVolumeName(names, each.scope, each.claim));
      expect(volumes[0] === volumes[1]).toBe(one.scope === other.scope && one.claim === other.claim);
    }),
    { numRuns: 5_000 },
  );
});
