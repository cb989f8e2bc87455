import { describe, expect, test } from "bun:test";
import { foreignFile } from "../../../../src/client/manifests/foreign.ts";
import { cli } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";

describe("foreignFile", () => {
  test.each([
    ["compose.yaml", "services:\n  web: {image: x}\n", "berth import compose compose.yaml > app.yaml"],
    ["stdin", "name: x\ninclude:\n  - a.yaml\n", "berth import compose - > app.yaml"],
    ["deploy.yml", "service: a\nimage: b\nservers: [c]\n", "berth import kamal deploy.yml > app.yaml"],
    ["k8s.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {}\n", "a manifest of Kubernetes"],
    ["k8s.json", '{\n  "apiVersion": "v1",\n  "kind": "Pod"\n}\n', "a manifest of Kubernetes"],
    ["a.hcl", 'job "web" {\n  datacenters = ["dc1"]\n  group "a" {}\n}\n', "a job of Nomad"],
    ["Dockerfile", "# syntax=docker/dockerfile:1\nFROM node:22\n", "a Dockerfile: berth up builds"],
    ["web.Dockerfile", "from node:22\n", "a Dockerfile"],
    ["Procfile", "web: node .\n", "a Procfile: berth init"],
    ["Chart.yaml", "apiVersion: v2\nname: web\n", "a Helm chart: render it with helm template"],
    ["kustomization.yaml", "resources: [a.yaml]\n", "render it with kubectl kustomize"],
    ["fly.toml", "app = 'x'\n", "a file of Fly.io: berth init"],
    ["fly.staging.toml", "app = 'x'\n", "a file of Fly.io"],
    ["render.yaml", "services:\n  - type: web\n    name: a\n", "a blueprint of Render: berth init"],
  ])("%s says the way", (name, text, says) => {
    expect(foreignFile({ name, text })).toContain(says);
  });

  test.each([
    ["a.yaml", "kind: deployment\nscope: s\nname: services\nspec:\n  image: x\n"],
    ["a.yaml", "- kind: app\n  name: a\n"],
    ["a.yaml", "kind: asset\nname: a\nspec:\n  files:\n    k: |\n      services:\n        - x\nservices:\n"],
    ["a.hcl", 'job "shop" "a" {\n  image = "x"\n}\n'],
    ["a.yaml", ""],
  ])("%s with %p is a manifest", (name, text) => {
    expect(foreignFile({ name, text })).toBeUndefined();
  });

  test("apply, diff and validate say it in one sentence", async () => {
    using place = folder({ "compose.yaml": "services:\n  web: {image: x}\n" });
    for (const words of [["apply", "-f"], ["diff", "-f"], ["validate"]]) {
      const { code, err } = await cli([...words, "compose.yaml"], { cwd: place.path });
      expect({ code, err }).toEqual({
        code: 1,
        err: "error: compose.yaml: this is a Compose file: berth import compose compose.yaml > app.yaml\n",
      });
    }
  });
});
