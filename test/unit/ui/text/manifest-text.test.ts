import { describe, expect, test } from "bun:test";
import {
  fieldOf,
  firstManifest,
  manifestText,
  missingOf,
  namedAfter,
  portOf,
  readManifests,
  withField,
  withoutVariables,
  withPort,
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

  test("a new app begins without any value, and what it still needs is asked for in order", () => {
    expect(readManifests(firstManifest)).toEqual({
      manifests: [{ kind: "app", scope: null, name: null, spec: { image: null } }],
    });
    let text = firstManifest;
    for (const [missing, path, value] of [
      ["scope", "scope", "shop"],
      ["name", "name", "web"],
      ["image", "spec.image", "web:1"],
    ] as const) {
      expect(missingOf(text)).toContain(missing);
      text = withField(text, path, value);
    }
    expect(missingOf(text)).toBeUndefined();
    text = withField(text, "spec.host", "shop.example.com");
    expect(missingOf(text)).toContain("visitors of shop.example.com");
    text = withPort(text, "8080");
    expect(missingOf(text)).toBeUndefined();
    expect(readManifests(text)).toMatchObject({ manifests: [{ spec: { image: "web:1", ports: ["8080"] } }] });
    expect(portOf(withPort(text, "3000"))).toBe("3000");
    // Other kinds are the viewer's own business, and a source brings its image.
    expect(missingOf("kind: job\nname: a\n")).toBeUndefined();
    expect(missingOf("kind: app\nscope: a\nname: b\nspec:\n  build: {}\n")).toBeUndefined();
  });

  test("an app without a name is named after its repository, folder or archive", () => {
    const none = { scope: "", name: "" };
    expect(namedAfter(none, "https://git.example.com/acme/Shop_API.git")).toEqual({
      scope: "shop-api",
      name: "shop-api",
    });
    expect(namedAfter({ scope: "shop", name: "" }, "services/web/").name).toBe("web");
    expect(namedAfter({ scope: "shop", name: "api" }, "x.tar.gz").name).toBe("api");
    expect(namedAfter(none, "my app.tar.gz").name).toBe("my-app");
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
