// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
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
  test("prints manifests that validate", async () => {
    using place = folder({ "docker-compose.yml": compose, "n.conf": "x" });
    const { path: cwd } = place;
    const outcome = await cli(["import", "compose", "--scope", "shop"], { cwd });
    expect(outcome).toMatchObject({ code: 0, out: manifests, calls: [] });
    expect(outcome.err).toBe("2 manifests: everything carries over\n");
    const check = await cli(["validate", "-"], { cwd, stdin: outcome.out });
    expect(check).toMatchObject({ code: 0, err: "" });
    const hcl = await cli(["import", "compose", "docker-compose.yml", "--scope", "shop", "--to", "hcl"], { cwd });
    expect(hcl.out).toContain('n_conf = file("./n.conf")');
    const again = await cli(["convert", "-", "--format", "hcl", "--to", "yaml"], { stdin: hcl.out });
    expect(again.out).toBe(manifests);
  });

  test("reports one line for each kind, changes by hand first, and the variables to set", async () => {
    const stdin =
      "services:\n  a: {image: '${IMAGE}', env_file: gone.env, gpus: all}\n  b: {image: b, env_file: away.env, gpus: all}\n";
    const { err } = await cli(["import", "compose", "-", "--scope", "s"], { stdin });
    expect(err).toBe(
      "stdin:2:46: services.a.gpus (and services.b.gpus): has no counterpart: containers get no GPU\n" +
        'note: stdin:2:26: services.a.env_file (and "away.env"): "gone.env" does not exist: create it before berth apply\n' +
        "set before berth apply: IMAGE\n" +
        "2 manifests: 2 settings need a change by hand\n",
    );
    const { data } = JSON.parse((await cli(["import", "compose", "-", "-o", "json"], { stdin })).out);
    expect(data.variables).toEqual(["IMAGE"]);
    expect(data.losses).toHaveLength(4);
    expect(data.losses[1]).toEqual({
      ...{ place: "stdin:2:46", path: "services.a.gpus", level: "change" },
      message: "has no counterpart: containers get no GPU",
    });
  });

  test("reads .env, the override file and profiles, as docker compose does", async () => {
    using place = folder({
      "compose.yaml": "services:\n  web:\n    image: web:${TAG}\n    environment: {A: $A, B: '${B:-b}'}\n",
      "compose.override.yml": "services:\n  web:\n    environment: {C: c}\n  tool: {image: t, profiles: [dev]}\n",
      ".env": "TAG=7\nA='x y'\nCOMPOSE_PROFILES=dev\nnot a variable\nD=${TAG}\n",
      "other.env": "TAG=8\n",
    });
    const { path: cwd } = place;
    const { out, err } = await cli(["import", "compose", "--scope", "s"], { cwd });
    expect(err).toBe("2 manifests: everything carries over\n");
    expect(out).toContain('image: web:${TAG:-7}\n  env:\n    A: "${A:-x y}"\n    B: "${B:-b}"\n    C: c\n');
    expect(out).not.toContain("replicas");
    const own = await cli(["import", "compose", "-f", "compose.yaml", "--env-file", "other.env"], { cwd });
    expect(own.out).toContain("image: web:${TAG:-8}\n");
    expect(own.out).not.toContain("C: c");
  });

  test("paths start at the working directory, or at the file that is written", async () => {
    using place = folder({
      "docker/compose.yaml": "services:\n  web: {build: .., volumes: ['./n.conf:/n:ro']}\n",
      "docker/n.conf": "",
      "deploy/x": "",
      Dockerfile: "",
    });
    const { path: cwd } = place;
    const here = await cli(["import", "compose", "docker/compose.yaml"], { cwd });
    expect(here.out).toContain("n_conf: !file ./docker/n.conf\n");
    expect(here.out).toContain("context: .\n");
    const there = await cli(["import", "compose", "docker/compose.yaml", "--write", "deploy/app.yaml"], { cwd });
    expect(there).toMatchObject({ code: 0, out: "" });
    const written = readFileSync(join(cwd, "deploy/app.yaml"), "utf8");
    expect(written).toContain("n_conf: !file ../docker/n.conf\n");
    expect(written).toContain("context: ..\n");
    expect(await cli(["validate", "deploy/app.yaml"], { cwd })).toMatchObject({ code: 0 });
  });

  test("a folder with a few files becomes an asset, one with many does not, an empty one is a volume", async () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`many/${at}`, ""]));
    const mounts = "['./few:/few:ro', './many:/many:ro', './empty:/empty', './git:/git', './deps:/deps']";
    using place = folder({
      "compose.yaml": `services:\n  web: {image: x, volumes: ${mounts}}\n`,
      ...{ ...many, "few/a.sql": "", "empty/.gitkeep": "", "git/.git/x": "", "deps/node_modules/y": "" },
    });
    const { out, err } = await cli(["import", "compose", "--scope", "s"], { cwd: place.path });
    expect(out).toContain("- ${asset.s.files.a_sql}:/few/a.sql:ro\n    - empty:/empty\n");
    expect(err).toContain('volumes[1] (and "./git", "./deps"): "./many" is a large folder of this machine');
  });

  test("what the server would refuse is reported, what a variable decides is not", async () => {
    const stdin =
      "services: {a: {image: 'x y', restart: always}, b: {image: x, cpus: '${CPUS}', volumes: ['${V}:/v']}}\n";
    const { code, err } = await cli(["import", "compose", "-", "--scope", "s"], { stdin });
    expect(code).toBe(0);
    expect(err.match(/the server will refuse this/g)).toHaveLength(1);
    expect(err).toContain("stdin: deployment a: spec.image: the server will refuse this: ");
  });

  test("a folder with a Compose file of another name says how to name it", async () => {
    using place = folder({ "docker-compose.prod.yml": "services: {}\n" });
    const { code, err } = await cli(["import", "compose"], { cwd: place.path });
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining("; name one: berth import compose docker-compose.prod.yml\n"),
    });
  });

  test.each([
    [["compose"], 1, "error: no Compose file in this folder: looked for compose.yaml"],
    [["compose", "none.yml"], 1, 'error: "none.yml" does not exist'],
    [["docker-run"], 2, "error: say which command, in quotes"],
    [["kamal", "a", "b"], 2, 'error: "b" is one word too many: import kamal FILE'],
    [["kamal"], 1, 'error: "config/deploy.yml" does not exist'],
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
