import { expect, test } from "bun:test";
import fc from "fast-check";
import { stringify } from "yaml";
import { readCompose } from "../support/compose.ts";
import { exportCompose } from "../../src/client/manifests/export/compose/export.ts";
import { exportKubernetes } from "../../src/client/manifests/export/kubernetes/export.ts";
import { expandApp } from "../../src/orchestration/core/expand.ts";
import { kindAndSpec } from "./core-specs.ts";

const cases = Number(process.env.BERTH_TEST_CASES ?? 150);
const name = fc.stringMatching(/^[a-z0-9]([a-z0-9._-]{0,20}[a-z0-9])?$/);
const drafts = fc
  .array(fc.tuple(kindAndSpec, name), { minLength: 1, maxLength: 3 })
  .map((all) =>
    all.flatMap(([{ kind, spec }, own]) =>
      expandApp({ kind, scope: kind === "registry" ? "" : "shop", name: own, spec }),
    ),
  );

const dnsLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

interface Pod {
  containers: { name: string; volumeMounts?: { name: string }[] }[];
  initContainers?: { name: string }[];
  volumes?: { name: string }[];
}

/** The specs of pods anywhere in a document. */
function podsIn(value: unknown): Pod[] {
  if (typeof value !== "object" || value === null) return [];
  if ("containers" in value) return [value as Pod];
  return Object.values(value).flatMap(podsIn);
}

test("every document for Kubernetes has a name that it takes, and pods mount what they have", () => {
  fc.assert(
    fc.property(drafts, (all) => {
      const { documents } = exportKubernetes(all);
      for (const document of documents as {
        apiVersion: string;
        kind: string;
        metadata: { name: string };
        spec?: object;
      }[]) {
        expect(document.apiVersion).toMatch(/^(?:[a-z.0-9]+\/)?v\d$/);
        expect(document.metadata.name).toMatch(dnsLabel);
        const claims =
          (document.spec as { volumeClaimTemplates?: { metadata: { name: string } }[] })?.volumeClaimTemplates ?? [];
        for (const { containers, initContainers = [], volumes = [] } of podsIn(document)) {
          const names = [...containers, ...initContainers].map((container) => container.name);
          expect(new Set(names).size).toBe(names.length);
          const known = [...volumes.map((volume) => volume.name), ...claims.map(({ metadata }) => metadata.name)];
          expect(new Set(known).size).toBe(known.length);
          for (const mount of containers.flatMap(({ volumeMounts = [] }) => volumeMounts))
            expect(known).toContain(mount.name);
        }
      }
    }),
    { numRuns: cases },
  );
});

test("what is exported to Compose can be imported again", () => {
  fc.assert(
    fc.property(drafts, (all) => {
      const { document } = exportCompose(all);
      const { manifests, faults } = readCompose(stringify(document, { aliasDuplicateObjects: false }));
      expect(faults).toEqual([]);
      expect(manifests.filter(({ kind }) => kind === "deployment")).toHaveLength(
        Object.keys(document.services as object).length,
      );
    }),
    { numRuns: cases },
  );
});
