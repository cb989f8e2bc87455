import { expect, test } from "bun:test";
import { namedBuilds, sourceMessage, withBuildIds } from "../../../../src/ui/text/source-builds.ts";

const git = { url: "https://git.example.com/shop.git", ref: "main", commit: "1a2b3c4d".repeat(5), subject: "faster" };
const request = { context: "c".repeat(64), dockerfile: "Dockerfile" };
const build = (index: number) => ({ index, id: `id${index}`, files: 1, bytes: 1, request });

test("each build gets the present name of its manifest, and each manifest the id of its build", () => {
  const manifests = [
    { kind: "asset", scope: "shop", name: "page", spec: {} },
    { kind: "app", scope: "shop", name: "renamed", spec: { build: { target: "web" } } },
    { kind: "cronjob", scope: "shop", name: "nightly", spec: { job: { build: {} } } },
  ];
  const builds = [build(1), build(2), build(9)];
  const named: unknown[] = namedBuilds(manifests, { builds, git });
  expect(named).toEqual([
    { ...request, scope: "shop", name: "renamed", git },
    { ...request, scope: "shop", name: "nightly", git },
  ]);
  expect(withBuildIds(manifests, { builds })).toEqual([
    manifests[0],
    { ...manifests[1], spec: { build: { target: "web", id: "id1" } } },
    { ...manifests[2], spec: { job: { build: { id: "id2" } } } },
  ] as unknown[]);
});

test("the reason of a deploy names the commit", () => {
  expect(sourceMessage({ git })).toBe("main 1a2b3c4d1a2b faster");
  expect(sourceMessage({})).toBe("");
});
