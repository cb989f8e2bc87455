import { describe, expect, test } from "bun:test";
import {
  canonicalReference,
  isImageId,
  parseImageReference,
  registryHost,
} from "../../../../src/orchestration/core/image-reference.ts";
import { formatImageReference } from "../../../support/image-reference.ts";

const digest = `sha256:${"a".repeat(64)}`;

describe("image references", () => {
  test.each([
    ["nginx", "docker.io/library/nginx:latest"],
    ["nginx:1.27", "docker.io/library/nginx:1.27"],
    ["acme/web", "docker.io/acme/web:latest"],
    ["docker.io/nginx", "docker.io/library/nginx:latest"],
    ["index.docker.io/acme/web", "docker.io/acme/web:latest"],
    ["localhost/web", "localhost/web:latest"],
    ["localhost:5000/a/b:2", "localhost:5000/a/b:2"],
    ["registry.acme.test/web", "registry.acme.test/web:latest"],
    ["[::1]:5000/web:1", "[::1]:5000/web:1"],
    [`nginx@${digest}`, `docker.io/library/nginx@${digest}`],
    [`nginx:1@${digest}`, `docker.io/library/nginx:1@${digest}`],
    ["a__b/c-d.e", "docker.io/a__b/c-d.e:latest"],
  ])("%s is %s", (text, full) => {
    const image = parseImageReference(text);
    expect(image && formatImageReference(image)).toBe(full);
  });

  test("taken apart", () => {
    expect(parseImageReference(`host:5000/team/web:2@${digest}`)).toEqual({
      name: "host:5000/team/web",
      registry: "host:5000",
      repository: "team/web",
      tag: "2",
      digest,
    });
  });

  test.each([
    ...["", ":", "web:", "Web", "acme/Web", "a//b", "/web", "web/", "web tag", "web:ta g", "http://host/web", "-web"],
    ...["web@sha256:abc", "web@", "a/..b", "../web", "web:-x", "x".repeat(600)],
  ])("%j is none", (text) => {
    expect(parseImageReference(text)).toBeUndefined();
  });
});

test.each([
  ["registry.acme.test", "registry.acme.test"],
  ["https://Registry.Acme.test/v2/", "registry.acme.test"],
  ["host:5000", "host:5000"],
  ["https://index.docker.io/v1/", "docker.io"],
  ["docker.io", "docker.io"],
  ["", undefined],
  ["a b", undefined],
  ["https://", undefined],
])("registry address %j has the host %p", (url, host) => {
  expect(registryHost(url)).toBe(host);
});

const sha = `sha256:${"ab".repeat(32)}`;

describe("parseImageReference", () => {
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
    expect(parseImageReference(text)).toMatchObject({ registry, repository, tag, digest });
  });

  test("keeps the name as written", () => {
    expect(parseImageReference("nginx:1")?.name).toBe("nginx");
    expect(parseImageReference(`localhost:5000/a/b:1@${sha}`)?.name).toBe("localhost:5000/a/b");
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
    expect(parseImageReference(text)).toBeUndefined();
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
