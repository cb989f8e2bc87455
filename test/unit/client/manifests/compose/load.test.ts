// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Compose files hold such text
import { describe, expect, test } from "bun:test";
import { keptFile } from "../../../../../src/client/manifests/kept.ts";
import { readCompose } from "../../../../support/compose.ts";

/** The spec of the only deployment. */
function spec(text: string, scene: Parameters<typeof readCompose>[1]) {
  const { manifests, faults } = readCompose(text, scene);
  expect(faults).toEqual([]);
  return manifests.find(({ kind }) => kind === "deployment")?.spec;
}

test("a text whose quote is not closed is named where it begins", () => {
  const { faults } = readCompose('services:\n  web:\n    image: "nginx\n    environment:\n      A: b\n', {});
  expect(faults.map(({ span, message }) => [span.start, message])).toEqual([
    [28, 'the text that begins here is not closed: expected " before the end of this line'],
  ]);
});

describe("loadCompose", () => {
  test.each<[string, string, object]>([
    ["environment: [A=1, B=2]", "environment: {B: 3}", { env: { A: "1", B: "3" } }],
    ["ports: ['1:1']", "ports: ['1:1', '2:2']", { ports: ["0.0.0.0:1:1", "0.0.0.0:2:2"] }],
    ["ports: ['1:1']", "ports: !override ['2:2']", { ports: ["0.0.0.0:2:2"] }],
    ["ports: ['1:1']", "ports: !reset []", {}],
    ["command: a b", "command: c", { command: ["c"] }],
    ["command: a b", "command: null", { command: ["a", "b"] }],
    [
      "volumes: ['a:/x', 'b:/y']",
      "volumes: ['${C:-c}:/x:ro']",
      { volumes: [expect.stringContaining(":/x:ro"), "b:/y"] },
    ],
    ["build: ./x", "build: {target: t}", { build: { context: "./x", target: "t" } }],
    [
      "deploy: {replicas: 1, resources: {limits: {cpus: 1}}}",
      "deploy: {replicas: 2}",
      { replicas: 2, resources: { limits: { cpu: "1" } } },
    ],
    ["image: a", "image: b", { image: "b" }],
  ])("%s with %s over it", (base, over, expected) => {
    const file = (fields: string) => `services:\n  web:\n    ${fields}\n`;
    expect(spec(file(base), { over: [file(over)] })).toEqual(expected as never);
  });

  test("extends: a service of this file, and of another one whose paths start there", () => {
    const files = {
      "common/base.yaml":
        "services: {base: {build: ., env_file: b.env, environment: {A: 1, B: 1}, volumes: ['./n.conf:/n:ro']}}\n",
      "common/n.conf": "",
      "common/b.env": "",
    };
    const text =
      "services:\n  web: {extends: {file: ./common/base.yaml, service: base}, environment: {B: 2}, command: c}\n";
    const { manifests, faults, losses } = readCompose(text, { files });
    expect({ faults, losses }).toEqual({ faults: [], losses: [] });
    expect(manifests).toMatchObject([
      { spec: { files: { n_conf: keptFile("./common/n.conf") } } },
      {
        spec: { build: { context: "./common" }, env_file: ["./common/b.env"], env: { A: "1", B: "2" }, command: ["c"] },
      },
    ]);
    const own = readCompose("services:\n  a: {image: x, command: c}\n  b: {extends: a, image: y}\n");
    expect(own.manifests[1]).toMatchObject({ name: "b", spec: { image: "y", command: ["c"] } });
  });

  test("include: files, lists of files and folders of projects", () => {
    const files = {
      "db/compose.yaml": "services: {db: {build: .}}\nvolumes: {v: {external: true}}\n",
      "x/one.yaml": "services: {one: {build: .}}\n",
      "x/two.yaml": "services: {one: {command: c}}\n",
    };
    const text = "include: [db/compose.yaml, {path: [x/one.yaml, x/two.yaml], project_directory: p}]\n";
    const { manifests, faults } = readCompose(text, { files });
    expect(faults).toEqual([]);
    expect(manifests).toMatchObject([
      { name: "db", spec: { build: { context: "./db" } } },
      { name: "one", spec: { build: { context: "./p" }, command: ["c"] } },
    ]);
  });

  test.each([
    ["services: {a: {extends: b}}", 'services.a: extends "b", which does not exist'],
    ["services: {a: {extends: b}, b: {extends: a}}", "services.a: extends itself, or no service"],
    ["services: {a: {extends: {file: loop.yaml, service: a}}}", "files extend each other"],
    ["include: [round.yaml]", "files include each other"],
    ["include: [{}]", "an entry of include has no path"],
    ["include: [none.yaml]", "this is not a Compose file: it has no services"],
  ])("%s is a fault", (text, message) => {
    const files = {
      "loop.yaml": "services: {a: {extends: {file: loop.yaml, service: a}}}",
      "round.yaml": "include: [round.yaml]",
    };
    const { faults, manifests } = readCompose(text, { files });
    expect(manifests).toEqual([]);
    expect(faults.map((fault) => fault.message)).toContain(message);
  });

  test("paths of a file in a folder start where the manifests are", () => {
    const text =
      "services:\n  web:\n    build: ..\n    env_file: [.env, {path: /abs.env}]\n" +
      "    volumes: ['./n.conf:/n:ro', '${D:-./data}:/d', 'v:/v', {type: bind, source: n.conf, target: /m, read_only: true}]\n" +
      "    secrets: [s]\nsecrets: {s: {file: s.txt}}\n";
    const files = { "docker/n.conf": "", "docker/s.txt": "", "docker/.env": "", "a/b": "" };
    const { manifests } = readCompose(text, { files, folder: "docker" });
    expect(manifests).toMatchObject([
      { spec: { files: { n_conf: keptFile("./docker/n.conf"), s_txt: keptFile("./docker/s.txt") } } },
      { spec: { build: { context: "." }, env_file: ["./docker/.env", "/abs.env"] } },
    ]);
    expect(manifests[1]).toMatchObject({ spec: { volumes: expect.arrayContaining(["docker-data:/d", "v:/v"]) } });
  });
});
