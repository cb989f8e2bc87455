import { describe, expect, test } from "bun:test";
import { canonicalReference, isImageId, parseReference } from "../../../../src/orchestration/engine/reference.ts";

const sha = `sha256:${"ab".repeat(32)}`;

describe("parseReference", () => {
  test.each([
    ["nginx", "docker.io", "library/nginx", "latest", undefined],
    ["nginx:1.25-alpine", "docker.io", "library/nginx", "1.25-alpine", undefined],
    ["team/app", "docker.io", "team/app", "latest", undefined],
    ["a/b/c:1", "docker.io", "a/b/c", "1", undefined],
    ["ghcr.io/org/app:v2", "ghcr.io", "org/app", "v2", undefined],
    ["localhost/app", "localhost", "app", "latest", undefined],
    ["localhost:5000/app", "localhost:5000", "app", "latest", undefined],
    ["registry:5000/team/app:1", "registry:5000", "team/app", "1", undefined],
    ["127.0.0.1:5000/app:1", "127.0.0.1:5000", "app", "1", undefined],
    ["[::1]:5000/app", "[::1]:5000", "app", "latest", undefined],
    [`nginx@${sha}`, "docker.io", "library/nginx", undefined, sha],
    [`localhost:5000/app:1@${sha}`, "localhost:5000", "app", "1", sha],
    ["app__x.y-z", "docker.io", "library/app__x.y-z", "latest", undefined],
  ] as const)("%s", (text, registry, repository, tag, digest) => {
    expect(parseReference(text)).toMatchObject({ registry, repository, tag, digest });
  });

  test("keeps the name as written", () => {
    expect(parseReference("nginx:1")?.name).toBe("nginx");
    expect(parseReference(`localhost:5000/a/b:1@${sha}`)?.name).toBe("localhost:5000/a/b");
  });

  test.each([
    "",
    " ",
    "Nginx",
    "nginx:",
    "nginx:a b",
    "a/../b",
    "../a",
    "/a",
    "a/",
    "a//b",
    "a?b=c",
    "nginx@sha256:short",
    "http://host/app",
    "-a",
    "a\nb",
    "a".repeat(256),
    `a:${"t".repeat(129)}`,
  ])("%j is none", (text) => {
    expect(parseReference(text)).toBeUndefined();
    expect(canonicalReference(text)).toBeUndefined();
  });
});

describe("canonicalReference", () => {
  test("is one for all spellings", () => {
    const all = ["nginx", "nginx:latest", "docker.io/library/nginx", "docker.io/library/nginx:latest"];
    expect(new Set(all.map(canonicalReference))).toEqual(new Set(["docker.io/library/nginx:latest"]));
  });

  test("lets the digest win over the tag", () => {
    expect(canonicalReference(`nginx:1@${sha}`)).toBe(`docker.io/library/nginx@${sha}`);
  });
});

test("isImageId knows whole ids only", () => {
  expect(isImageId(sha)).toBe(true);
  expect(isImageId(sha.slice(7))).toBe(true);
  expect(isImageId(sha.slice(0, 20))).toBe(false);
  expect(isImageId("nginx")).toBe(false);
});
