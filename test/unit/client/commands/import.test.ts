// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { describe, expect, test } from "bun:test";
import { cli } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";

const compose = `services:
  web:
    image: nginx:\${TAG:-1}
    restart: always
    scale: \${N:-2}
    volumes: ["./n.conf:/etc/n.conf:ro"]
    depends_on: [db]
`;
const manifests = `kind: asset
scope: shop
name: files
spec:
  files:
    n_conf: !file ./n.conf
---
kind: deployment
scope: shop
name: web
spec:
  image: nginx:\${TAG:-1}
  replicas: \${N:-2}
  volumes:
    - \${asset.shop.files.n_conf}:/etc/n.conf:ro
  restart: always
`;

describe("import compose", () => {
  test("prints manifests that validate, and tells what is lost", async () => {
    using place = folder({ "docker-compose.yml": compose, "n.conf": "x" });
    const { path: cwd } = place;
    const outcome = await cli(["import", "compose", "--scope", "shop"], { cwd });
    expect(outcome).toMatchObject({ code: 0, out: manifests, calls: [] });
    expect(outcome.err).toBe(
      "docker-compose.yml:7:5: services.web.depends_on: there is no start order: db may be ready later; an init can wait for it\n" +
        "2 manifests: 1 of their settings do not carry over as they are\n",
    );
    const check = await cli(["validate", "-"], { cwd, stdin: outcome.out });
    expect(check).toMatchObject({ code: 0, err: "" });
    const hcl = await cli(["import", "compose", "docker-compose.yml", "--scope", "shop", "--to", "hcl"], { cwd });
    expect(hcl.out).toContain('n_conf = file("./n.conf")');
    const again = await cli(["convert", "-", "--format", "hcl", "--to", "yaml"], { stdin: hcl.out });
    expect(again.out).toBe(manifests);
    const { data } = JSON.parse((await cli(["import", "compose", "-o", "json"], { cwd })).out);
    expect(data.losses).toEqual([
      { place: "docker-compose.yml:7:5", path: "services.web.depends_on", message: expect.any(String) },
    ]);
  });

  test("what the server would refuse is told", async () => {
    const stdin = "services: {a: {image: 'x y', restart: always}}\n";
    const { code, err } = await cli(["import", "compose", "-", "--scope", "s"], { stdin });
    expect(code).toBe(0);
    expect(err).toContain("stdin: deployment a: spec.image: the server will refuse this: ");
  });

  test.each([
    [["compose"], 1, "error: no Compose file in this folder: looked for compose.yaml"],
    [["compose", "none.yml"], 1, 'error: "none.yml" does not exist'],
    [["compose", "a", "b"], 2, 'error: "b" is one word too many: import compose FILE'],
    [["compose", "-", "--to", "toml"], 2, 'error: --to is yaml or hcl, not "toml"'],
    [["compse"], 2, 'error: unknown command "import compse": did you mean "compose"?'],
  ])("%p ends with %p", async (words, code, err) => {
    using place = folder({});
    const outcome = await cli(["import", ...words], { cwd: place.path });
    expect(outcome.code).toBe(code);
    expect(outcome.err).toStartWith(err);
  });

  test("a fault in the YAML has its place", async () => {
    const { code, err } = await cli(["import", "compose", "-"], { stdin: "services:\n\tweb: x\n" });
    expect(code).toBe(1);
    expect(err).toStartWith("stdin:2:1: tabs cannot indent: use spaces\n");
  });
});
