import { describe, expect, test } from "bun:test";
import {
  fieldOf,
  firstManifest,
  manifestText,
  readManifests,
  withField,
  withoutVariables,
} from "../../../../src/ui/text/manifest-text.ts";

describe("a manifest as form and text", () => {
  test("a field of the form changes its line alone; comments stay", () => {
    const text = "kind: app # what it is\nscope: shop\nname: web\nspec:\n  image: web:1\n";
    expect(withField(text, "spec.image", "web:2")).toBe(text.replace("web:1", "web:2"));
    expect(withField(text, "spec.replicas", "3")).toBe(`${text}  replicas: 3\n`);
    expect(withField(text, "spec.image", "")).not.toContain("image");
    expect(withField("kind: app\n", "spec.host", "a.example")).toBe("kind: app\nspec:\n  host: a.example\n");
    expect(fieldOf(text, "spec.image")).toBe("web:1");
    expect(fieldOf("spec:\n  image: [1]\n", "spec.image")).toBe("");
  });

  test("a text that cannot be read stays as it is, and says where it is wrong", () => {
    expect(withField("a: [1", "b", "2")).toBe("a: [1");
    expect(readManifests("a: [1")).toMatchObject({ fault: expect.stringContaining("line 1") });
  });

  test("several manifests, YAML or JSON", () => {
    expect(readManifests("kind: a\n---\nkind: b\n---\n")).toEqual({ manifests: [{ kind: "a" }, { kind: "b" }] });
    expect(readManifests('[{"kind":"a"},{"kind":"b"}]')).toEqual({ manifests: [{ kind: "a" }, { kind: "b" }] });
    expect(readManifests("")).toEqual({ manifests: [] });
    const first = readManifests(firstManifest);
    expect("manifests" in first && first.manifests).toHaveLength(1);
  });

  test("of several manifests the form is about the app, and the others stay as they are", () => {
    const text = "# files\nkind: asset\nname: page\n---\n# the app\nkind: app\nname: web\nspec:\n  image: web:1\n";
    expect(fieldOf(text, "name")).toBe("web");
    expect(withField(text, "spec.image", "web:2")).toBe(text.replace("web:1", "web:2"));
    expect(fieldOf("- 1\n", "name")).toBe("");
  });

  test("an example is filled with its defaults", () => {
    expect(withoutVariables("image: ${IMAGE:-web:1}\nrun: echo $$HOME ${asset.a.b.c} ${URL}")).toBe(
      "image: web:1\nrun: echo $HOME ${asset.a.b.c} ${URL}",
    );
  });

  test("a stored manifest goes to the text and back without loss", () => {
    const manifest = {
      kind: "deployment",
      scope: "shop",
      name: "web",
      spec: { image: "web:1", env: { A: "1", B: "yes", C: "" }, ports: ["8080"] },
    };
    expect(readManifests(manifestText(manifest))).toEqual({ manifests: [manifest] });
  });
});
