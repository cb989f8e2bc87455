import { describe, expect, test } from "bun:test";
import { parseImageReference, registryHost } from "../../../../src/orchestration/core/image-reference.ts";
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
