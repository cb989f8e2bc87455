// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { describe, expect, test } from "bun:test";
import { readDocuments } from "../../../../../src/client/manifests/document.ts";
import type { ManifestFile } from "../../../../../src/client/manifests/entry.ts";
import { formatFaults, placeOf, type Fault } from "../../../../../src/client/manifests/source.ts";

function read(text: string, variables: Record<string, string> = {}) {
  const faults: Fault[] = [];
  const file: ManifestFile = { name: "app.hcl", text, directory: "/", format: "hcl" };
  const readAsset = (_: ManifestFile, path: string) => {
    if (path === "none") throw new Error(`"none" does not exist`);
    return new TextEncoder().encode(path);
  };
  const entries = readDocuments(file, { variables, readAsset, depthMax: 64, nodesMax: 1_000 }, faults);
  return { entries, faults, manifests: entries.map(({ manifest }) => manifest) };
}

function spec(body: string, variables?: Record<string, string>) {
  const { manifests, faults } = read(`deployment "shop" "web" {\n${body}\n}\n`, variables);
  expect(faults.map(({ message }) => message)).toEqual([]);
  return manifests[0]?.spec;
}

/** `line:column: message` of each fault. */
function faultsOf(text: string, variables?: Record<string, string>): string[] {
  return read(text, variables).faults.map(
    (fault) => `${placeOf(fault.span).replace("app.hcl:", "")}: ${fault.message}`,
  );
}

const inBody = (body: string) => faultsOf(`deployment "shop" "web" {\n${body}\n}\n`);

describe("blocks become manifests", () => {
  test("kinds, scopes and names", () => {
    const text = `app "a" "b" {}\nstatefulset a b {}\nasset "x" {}\nasset "a" "x" {}\nregistry "hub" {}\npostgres "a" "db" {}\ncache "c" {}\nmail {}\n`;
    expect(read(text).manifests.map(({ kind, scope, name }) => [kind, scope, name])).toEqual([
      ["app", "a", "b"],
      ["statefulset", "a", "b"],
      ["asset", undefined, "x"],
      ["asset", "a", "x"],
      ["registry", undefined, "hub"],
      ["postgres", "a", "db"],
      ["cache", undefined, "c"],
      ["mail", undefined, "mail"],
    ]);
  });

  test.each([
    [
      "init",
      'init "a" { command = ["x"] }\ninit "b" { command = ["y"] }',
      {
        inits: [
          { name: "a", command: ["x"] },
          { name: "b", command: ["y"] },
        ],
      },
    ],
    [
      "a switch beside the blocks of its name",
      'init = true\ninit "a" { command = ["x"] }',
      {
        init: true,
        inits: [{ name: "a", command: ["x"] }],
      },
    ],
    ["location", 'location { path = "/" }\nlocation { path = "/a" }', undefined],
    ["a hook", 'on_deploy { success { url = "u" } }', { on_deploy: { success: [{ url: "u" }] } }],
    [
      "one object",
      'resources { limits { cpu = "1" memory = "1Gi" } }',
      { resources: { limits: { cpu: "1", memory: "1Gi" } } },
    ],
    ["an attribute for a block", 'resources = { limits = { cpu = "1" } }', { resources: { limits: { cpu: "1" } } }],
    ["null leaves a field out", "image = null", {}],
  ])("%s", (_, body, expected) => {
    if (expected !== undefined) expect(spec(body)).toEqual(expected);
  });

  test("locations and volume claims have the names of the wire", () => {
    const { manifests } = read(
      'app "a" "b" {\n  location { path = "/" }\n  location { path = "/x" }\n}\nstatefulset "a" "c" {\n  volume_claim "data" { mount_path = "/d" }\n}\n',
    );
    expect(manifests.map(({ spec }) => spec)).toEqual([
      { locations: [{ path: "/" }, { path: "/x" }] },
      { volume_claims: [{ name: "data", mount_path: "/d" }] },
    ]);
  });

  test("what a cron job runs is in its job; the clock is not", () => {
    const { manifests, entries } = read(
      'cronjob "a" "b" {\n  schedule = "@daily"\n  image = "i"\n  failed_history_limit = 2\n  resources { limits { cpu = "1" } }\n}\n',
    );
    expect(manifests[0]?.spec).toEqual({
      schedule: "@daily",
      failed_history_limit: 2,
      job: { image: "i", resources: { limits: { cpu: "1" } } },
    });
    expect(entries[0]?.places.has("spec.job.image")).toBe(true);
  });

  test("modes of an asset are a block, so that a file can have that name", () => {
    const { manifests, faults } = read(
      'asset "a" {\n  modes = "x"\n  run = "y"\n  modes {\n    run = "0755"\n  }\n}\n',
    );
    expect(faults).toEqual([]);
    expect(manifests[0]?.spec).toEqual({ files: { modes: "x", run: "y" }, modes: { run: "0755" } });
  });

  test("files of an asset: text, file() and url()", () => {
    const { manifests, faults } = read(
      'asset "a" {\n  t = "x"\n  f = file("dir/f.txt")\n  u = url("https://x.test", { timeout = "5s" })\n}\n',
    );
    expect(faults).toEqual([]);
    expect(manifests[0]?.spec).toEqual({
      files: {
        t: "x",
        f: { _source: "file", content: Buffer.from("dir/f.txt").toString("base64"), filename: "f.txt" },
        u: { _source: "url", url: "https://x.test", timeout: "5s" },
      },
    });
  });

  test("blocks in a plugin's block: one is an object, several are a list, labels are kept", () => {
    const text =
      'pg "a" "b" {\n  n = 1\n  env = { A = 1, B = null, C = true }\n  one { x = 1 }\n  two "l" { x = 1 }\n  two { x = 2 }\n}\n';
    expect(read(text).manifests[0]?.spec).toEqual({
      n: 1,
      env: { A: "1", B: "", C: "true" },
      one: { x: 1 },
      two: [{ _labels: ["l"], x: 1 }, { x: 2 }],
    });
  });
});

describe("values", () => {
  test.each([
    ["a number for a text", "env = { N = 3 }", { env: { N: "3" } }],
    ["numbers in a list of texts", "ports = [8080]", { ports: ["8080"] }],
    ["truth for a text", "env = { V = true }", { env: { V: "true" } }],
    ["a text for a number", 'replicas = "3"', { replicas: 3 }],
    ["arithmetic", "replicas = (1 + 2) * 2 - 6 / 3", { replicas: 4 }],
    ["a condition", 'image = 2 > 1 && !false ? "a" : "b"', { image: "a" }],
    ["a template with an expression", 'image = "a${"b"}c${1 + 1}"', { image: "abc2" }],
    ["escapes", 'image = "\\t\\"\\u00e9\\U0001F600\\\\"', { image: '\t"é\u{1f600}\\' }],
    ["marks of templates", 'image = "$${A} %%{b} $5 100%"', { image: "${A} %{b} $5 100%" }],
    ["references of the server", 'image = "${asset.a.b.c}${ref.k.n.f}"', { image: "${asset.a.b.c}${ref.k.n.f}" }],
    ["comments", '# ${NOT_SET}\nimage = "a" // b\n/* c\n d */', { image: "a" }],
    ["comments in a template", 'image = "a${"b" # }"\n}${"c" /* } */}"', { image: "abc" }],
    ["a heredoc", "image = <<E\n  a ${1}\n\\n\nE", { image: "  a 1\n\\n\n" }],
    ["an indented heredoc", "image = <<-E\n    a\n\n      b\n  E", { image: "a\n\n  b\n" }],
    ["a heredoc in a list", "command = [<<E\nx\nE\n, 1]", { command: ["x\n", "1"] }],
    ["carriage returns", 'image = "a"\r\nreplicas = 2\r', { image: "a", replicas: 2 }],
  ])("%s", (_, body, expected) => {
    expect(spec(body)).toEqual(expected);
  });

  test("variables: set, default, empty, bare", () => {
    const body = 'image = "${A}-${B:-x y}-${C:-d}"\nreplicas = ${N}\nenv = { Q = ${A}, R = "${N}" }';
    expect(spec(body, { A: 'q"uote\n', C: "", N: "3" })).toEqual({
      image: 'q"uote\n-x y-d',
      replicas: 3,
      env: { Q: 'q"uote\n', R: "3" },
    });
  });
});

describe("faults have a place and say what to do", () => {
  test.each([
    ["x = 1\n", ['1:1: "x" is outside of a block: write it into one, such as deployment "SCOPE" "NAME" { … }']],
    ['deployment "a" {}\n', ['1:1: this block needs a scope and a name: deployment "SCOPE" "NAME" { … }']],
    ['registry "a" "b" {}\n', ['1:1: a registry has a name alone: registry "NAME" { … }']],
    ['pg "a" "b" "c" {}\n', ['1:12: a block has a scope and a name: pg "SCOPE" "NAME"']],
    ['pg "a" "b"\n', ['1:11: expected "{" after "pg", not the end of the line']],
    ['pg "a${B}" {}\n', ["1:4: a label is a plain text, without variables and escapes"]],
    ["pg {\n", ['2:1: expected "}" before the end of the file']],
    ["pg { a = 1\n}\n", ['1:11: expected "}" on this line: a block of several lines has nothing behind its "{"']],
  ])("%j", (text, expected) => {
    expect(faultsOf(text)).toEqual(expected);
  });

  test.each([
    ["image = nginx", '2:9: "nginx" is not a value: a text needs quotes, "nginx"; a variable is written "${nginx}"'],
    ["image = 'nginx'", `2:9: texts are written in double quotes: "…"`],
    ['image = "a', "2:9: this text is not closed: add the second quote on the same line"],
    ['image: "a"', '2:6: an attribute is written with "=": image = …'],
    ['image = "a" replicas = 1', '2:13: expected the end of the line, not the word "replicas"'],
    ['image = "${A B}"', '2:12: "A" is not a value: a text needs quotes, "A"; a variable is written "${A}"'],
    ['image = "${A}"', '2:10: variable "A" is not set: export it, or write ${A:-default}'],
    ['image = "${1 # }"', "2:9: this text is not closed: add the second quote on the same line"],
    ['image = "${A"', '2:9: "${" is not closed: add "}", or write "$${" for the characters themselves'],
    ['image = "\\q"', '2:10: "\\q" is not an escape: known are \\n, \\r, \\t, \\", \\\\, \\uNNNN and \\UNNNNNNNN'],
    ["image = <<E\nx", "2:9: this heredoc is not closed: write E on a line of its own"],
    ['image = "%{ if true }"', '2:10: directives are not supported; write "%%{" for the characters themselves'],
    ["ports = [for p in x : p]", '2:10: "for" is not supported: write the items out'],
    ["image = x.y", '2:9: "x" is not a value: a text needs quotes, "x"; a variable is written "${x}"'],
    ["replicas = 1 / 0", "2:16: division by zero"],
    ["replicas = 1 +", "2:15: expected a value on this line, not the end of the line"],
    ["env = { A = 1 B = 2 }", '2:15: expected a comma, a new line or "}" after this value, not the word "B"'],
    ["env = { A = 0.10 }", '2:13: reads as the number 0.1, not as "0.10": put it in quotes to keep the text'],
    ['env = { A = "1", A = "2" }', "2:18: this key is in the object twice"],
    ['image = "a"\nimage = "b"', '3:1: "image" is here twice: first at app.hcl:2:1'],
    ["build {}\nbuild {}", '3:1: "build" is here twice: first at app.hcl:2:1'],
    ['build "x" {}', "2:7: this label has no meaning here"],
    ['image = file("x")', '2:9: file() has a meaning only in an asset: KEY = file("…")'],
    ['image = upper("x")', '2:9: there is no function "upper": known are file() and url(), in assets'],
    ["/* x", "2:1: this comment is not closed: add */"],
  ])("%j", (body, expected) => {
    expect(inBody(body)[0]).toBe(expected);
  });

  test("several faults of a file are found at once", () => {
    expect(
      inBody('image = nginx\nreplicas = 2\nports = [1 2]\nbuild {\n  context = x\n}\ncommand = ["a"]'),
    ).toHaveLength(3);
  });

  test("a file that cannot be read is a fault at its place", () => {
    expect(faultsOf('asset "a" {\n  f = file("none")\n}\n')).toEqual(['2:7: "none" does not exist']);
  });

  test("the line and a caret are shown", () => {
    const { faults } = read('deployment "a" "b" {\n  image = nginx\n}\n');
    expect(formatFaults(faults, 5)).toBe(
      'app.hcl:2:11: "nginx" is not a value: a text needs quotes, "nginx"; a variable is written "${nginx}"\n  2 |   image = nginx\n    |           ^^^^^',
    );
  });

  test("depth and number of values are bounded", () => {
    expect(inBody(`command = ${"[".repeat(100)}`)[0]).toContain("nested deeper than 64 levels");
    expect(inBody(`command = [${"1,".repeat(2_000)}]`)).toEqual([
      expect.stringContaining("too many values in one file"),
    ]);
    expect(inBody(`image = ${'"${'.repeat(20)}1${'}"'.repeat(20)}`)[0]).toContain("nested too deep");
  });
});
