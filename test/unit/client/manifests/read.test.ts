// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { describe, expect, test } from "bun:test";
import { clientLimits } from "../../../../src/config/config.ts";
import { readManifests } from "../../../../src/client/manifests/read.ts";
import { folder } from "../../../support/files.ts";

interface Given {
  paths?: string[];
  stdin?: string;
  format?: "yaml" | "hcl";
  variables?: Record<string, string>;
  limits?: Partial<typeof clientLimits>;
}

async function read(files: Record<string, string>, given: Given = {}) {
  using place = folder(files);
  return await readManifests(given.paths ?? Object.keys(files), {
    cwd: place.path,
    stdin: async () => given.stdin ?? "",
    variables: given.variables ?? {},
    format: given.format,
    limits: { ...clientLimits, ...given.limits },
  });
}

const manifests = async (files: Record<string, string>, given?: Given) => (await read(files, given)).manifests;
const message = (files: Record<string, string>, given?: Given): Promise<string> =>
  read(files, given).then(
    () => "accepted",
    (error: Error) => error.message,
  );

const web = "kind: deployment\nscope: shop\nname: web\n";

describe("files", () => {
  test("a text whose quote is not closed is named where it begins", async () => {
    const rest = "spec:\n  image: x\n";
    for (const [line, end] of [
      ['name: "web', ""],
      ["name: 'web", ""],
      ['name: "web', '  env: { A: "1" }\n'],
    ] as const) {
      const said = await message({ "a.yaml": `kind: deployment\nscope: shop\n${line}\n${rest}${end}` });
      expect(said).toContain("a.yaml:3:7: the text that begins here is not closed");
    }
    expect(await message({ "a.yaml": 'kind: job\nname: a\nspec: { image: "a\n  b" }\n' })).toBe("accepted");
  });

  test("more documents than an apply takes are counted before they are read", async () => {
    const text = `${web}---\n`.repeat(1001);
    expect(await message({ "a.yaml": text })).toContain(
      "a.yaml:1:1: 1001 documents in one file; at most 1000 are read: split it into several",
    );
  });

  test("one document, several documents, lists, and nothing after the last dashes", async () => {
    const text = `---\n${web}---\n- kind: job\n  name: a\n- {kind: job, name: b}\n---\n# only a comment\n---\n`;
    expect((await manifests({ "a.yaml": text })).map(({ name }) => name)).toEqual(["web", "a", "b"]);
  });

  test("JSON: one manifest, or an array indented with tabs", async () => {
    const one = JSON.stringify({ kind: "job", name: "a", spec: { replicas: 1.5, text: 'x"\u{1f600}' } });
    const many = JSON.stringify(
      [
        { kind: "job", name: "b" },
        { kind: "job", name: "c" },
      ],
      null,
      "\t",
    );
    expect(await manifests({ "a.json": one, "b.json": many })).toEqual([
      JSON.parse(one),
      { kind: "job", name: "b" },
      { kind: "job", name: "c" },
    ]);
  });

  test("HCL beside YAML, in one folder; the same resource in both is a fault at both places", async () => {
    const files = { "d/a.hcl": 'job "shop" "a" {\n  image = "x"\n}\n', "d/b.yaml": web };
    expect((await manifests(files, { paths: ["d"] })).map(({ kind, name }) => [kind, name])).toEqual([
      ["job", "a"],
      ["deployment", "web"],
    ]);
    const twice = { ...files, "d/c.hcl": 'deployment "shop" "web" {}\n' };
    expect(await message(twice, { paths: ["d"] })).toStartWith(
      "d/c.hcl:1:19: deployment/shop/web is declared twice: first at d/b.yaml:3:7",
    );
  });

  test("standard input is in the language that is named", async () => {
    expect(await manifests({}, { paths: ["-"], stdin: 'asset "x" {}\n', format: "hcl" })).toEqual([
      { kind: "asset", name: "x", spec: { files: {} } },
    ]);
  });

  test("an env file of an HCL manifest is merged", async () => {
    const files = { "a.hcl": 'job "s" "a" {\n  env_file = ["x.env"]\n  env = { B = 2 }\n}\n', "x.env": "A=1\nB=1\n" };
    expect(await manifests(files, { paths: ["a.hcl"] })).toEqual([
      { kind: "job", scope: "s", name: "a", spec: { env: { A: "1", B: "2" } } },
    ]);
  });

  test("JSON numbers may be written in any way JSON knows", async () => {
    const [manifest] = await manifests({ "a.json": '{"kind": "job", "name": "a", "spec": {"x": 1.0, "y": 1e3}}' });
    expect(manifest?.spec).toEqual({ x: 1, y: 1000 });
  });

  test("a folder is read to its depths, sorted, with all extensions of manifests", async () => {
    const job = (name: string) => `kind: job\nname: ${name}\n`;
    const files = {
      "m/b.yml": job("b"),
      "m/a/z.json": '{"kind": "job", "name": "z"}',
      "m/c.yaml": job("c"),
      "m/d.hcl": 'job "s" "d" {}\n',
      "m/e.voodu": 'job "s" "e" {}\n',
      "m/f.vdu": 'job "s" "f" {}\n',
      "m/g.vd": 'job "s" "g" {}\n',
      "m/README.md": "no manifest: [",
      "m/vd": "no manifest: [",
    };
    const names = "z b c d e f g".split(" ");
    expect((await manifests(files, { paths: ["m"] })).map(({ name }) => name)).toEqual(names);
  });

  test("a file below the folder that a manifest embeds is no manifest itself, in whatever order they come", async () => {
    const files = {
      "m/a.hcl": 'asset "shop" "conf" {\n  config = file("./files/worker.yml")\n}\n',
      "m/b.yaml": "kind: asset\nscope: shop\nname: more\nspec: { files: { c: !file a-first.json } }\n",
      "m/a-first.json": "{}",
      "m/files/worker.yml": "services:\n  web: { image: x }\n",
    };
    expect((await manifests(files, { paths: ["m"] })).map(({ name }) => name)).toEqual(["conf", "more"]);
    expect(await message({ ...files, "m/files/other.yml": "just text" }, { paths: ["m"] })).toContain(
      "m/files/other.yml:1:1",
    );
    // Whoever names it means it.
    expect(await message(files, { paths: ["m", "m/files/worker.yml"] })).toContain("worker.yml");
  });

  test("the settings of another client, among the manifests of its folder, are not read as one", async () => {
    const files = { ".voodu/app.json": '{"scope": "x"}', ".voodu/a.voodu": 'job "s" "a" {}\n' };
    expect((await manifests(files, { paths: [".voodu"] })).map(({ name }) => name)).toEqual(["a"]);
    expect((await manifests(files, { paths: [".voodu/app.json"] })).length).toBe(1);
  });

  test("stdin, beside a file, in the order of the flags", async () => {
    const given = { paths: ["-", "a.yaml"], stdin: "kind: job\nname: typed\n" };
    expect((await manifests({ "a.yaml": web }, given)).map(({ name }) => name)).toEqual(["typed", "web"]);
  });

  test.each([
    [["none.yaml"], '"none.yaml" does not exist'],
    [["empty"], 'no manifest in folder "empty": it holds no .yaml, .yml, .hcl, .json, .voodu, .vdu or .vd file'],
    [["nothing.yaml"], "no manifest in nothing.yaml: the file is empty; berth init writes a first one"],
    [["a.toml"], "a.toml: a manifest is YAML, JSON or HCL, not a file like a.toml; berth init writes a first one"],
    [["blank.yaml"], "no manifest in blank.yaml: the file has comments alone; berth init writes a first one"],
  ])("%p: %p", async (paths, text) => {
    expect(
      await message(
        { "empty/x.txt": "", "blank.yaml": "# nothing\n", "nothing.yaml": "", "a.toml": "a = 1\n" },
        { paths },
      ),
    ).toBe(text);
  });

  test("a file over the limit is not read", async () => {
    const text = await message({ "a.yaml": web }, { limits: { fileBytesMax: 10 } as Partial<typeof clientLimits> });
    expect(text).toBe(`"a.yaml" has ${web.length} bytes, more than the 10 that are read`);
  });
});

describe("values", () => {
  const spec = async (yaml: string, variables = {}) => {
    const indented = yaml.replace(/^(?=.)/gm, "  ");
    const [manifest] = await manifests({ "a.yaml": `${web}spec:\n${indented}` }, { variables });
    return manifest?.spec;
  };

  test("types of YAML 1.2: yes and on are text", async () => {
    expect(await spec("a: 1\nb: true\nc: yes\nd: null\ne: -1.5\nf: '1'\n")).toEqual({
      a: 1,
      b: true,
      c: "yes",
      d: null,
      e: -1.5,
      f: "1",
    });
  });

  test("a lone variable in a bare value has the type of its text; where text was meant it stays text", async () => {
    const yaml = `replicas: \${N}\nquoted: "\${N}"\npart: v\${N}\nversion: \${V}\nflag: \${F}\nenv:\n  PORT: \${N}\n`;
    expect(await spec(yaml, { N: "3", V: "0.10", F: "true" })).toEqual({
      replicas: 3,
      quoted: "3",
      part: "v3",
      version: "0.10",
      flag: true,
      env: { PORT: "3" },
    });
  });

  test("keys and comments are not interpolated", async () => {
    expect(await spec(`# \${NONE}\n"\${NONE}": x # \${NONE}\n`)).toEqual({ "${NONE}": "x" });
  });

  test("keys keep their text", async () => {
    expect(await spec("0123: a\n1.0: b\ntrue: c\n")).toEqual({ "0123": "a", "1.0": "b", true: "c" });
  });

  test("anchors, aliases and merge keys; own keys win, earlier maps win", async () => {
    const yaml = "base: &base {a: 1, b: 1}\nmore: &more {b: 2, c: 2}\nx:\n  <<: [*base, *more]\n  a: 9\ny: *base\n";
    expect(await spec(yaml)).toMatchObject({ x: { a: 9, b: 1, c: 2 }, y: { a: 1, b: 1 } });
  });

  test("a key called __proto__ is a key", async () => {
    const value = await spec("__proto__: {x: 1}\n");
    expect(JSON.stringify(value)).toBe('{"__proto__":{"x":1}}');
  });

  test("env_file: later files win, inline wins over all, the field goes; cron jobs too", async () => {
    const files = {
      "app/a.yaml": `${web}spec:\n  env_file: [one.env, "\${WHICH}.env"]\n  env: {C: inline}\n`,
      "app/cron.yaml": "kind: cronjob\nname: n\nspec:\n  job:\n    env_file: one.env\n",
      "app/one.env": "A=1\nB=1\nC=1\n",
      "app/two.env": "B=2\nC=2\n",
    };
    const [first, second] = await manifests(files, { paths: ["app"], variables: { WHICH: "two" } });
    expect(first?.spec).toEqual({ env: { A: "1", B: "2", C: "inline" } });
    expect(second?.spec).toEqual({ job: { env: { A: "1", B: "1", C: "1" } } });
  });

  test("!file embeds content found from the manifest's folder; !url is for the server", async () => {
    const yaml = [
      "kind: asset",
      "name: ca",
      "spec:",
      "  files:",
      "    pem: !file files/ca.pem",
      "    short: !url https://cfg.example/a",
      "    long: !url {href: https://cfg.example/b, on_failure: stale}",
      "    text: hello",
    ].join("\n");
    const files = { "d/a.yaml": yaml, "d/files/ca.pem": "PEM\n" };
    const [manifest] = await manifests(files, { paths: ["d/a.yaml"] });
    expect(manifest?.spec).toEqual({
      files: {
        pem: { _source: "file", content: Buffer.from("PEM\n").toString("base64"), filename: "ca.pem" },
        short: { _source: "url", url: "https://cfg.example/a" },
        long: { _source: "url", url: "https://cfg.example/b", on_failure: "stale" },
        text: "hello",
      },
    });
  });
});

describe("faults", () => {
  test("all of several files at once, each with its line and a caret", async () => {
    const files = {
      "a.yaml": `${web}spec:\n  image: web:\${NOPE}\n  env:\n    VERSION: 0.10\n    DEBUG: true\n    NONE:\n  build: 0123\n`,
      "b.yaml": "kind: job\n\tname: x\n",
    };
    expect(await message(files)).toBe(
      [
        'a.yaml:5:14: variable "NOPE" is not set: export it, or write ${NOPE:-default}',
        "  5 |   image: web:${NOPE}",
        "    |              ^^^^^^^",
        "",
        'a.yaml:7:14: environment variables are text and 0.10 is a number here: write "0.10"',
        "  7 |     VERSION: 0.10",
        "    |              ^^^^",
        "",
        'a.yaml:8:12: environment variables are text and true is a boolean here: write "true"',
        "  8 |     DEBUG: true",
        "    |            ^^^^",
        "",
        'a.yaml:9:5: an environment variable needs a value: write "" for an empty one',
        "  9 |     NONE:",
        "    |     ^^^^",
        "",
        'a.yaml:10:10: reads as the number 123, not as "0123": put it in quotes to keep the text',
        "  10 |   build: 0123",
        "     |          ^^^^",
        "",
        "b.yaml:2:1: tabs cannot indent: use spaces",
        "  2 | \tname: x",
        "    | ^",
      ].join("\n"),
    );
  });

  test.each([
    ["a: 1\na: 2\n", "a.yaml:2:1: this key is in the map twice"],
    ["spec: {a: {b: 1, 'b': 2}}\n", "a.yaml:1:18: this key is in the map twice"],
    ["spec: {<<: {a: 1}, <<: {b: 2}}\n", "a.yaml:1:20: this key is in the map twice"],
    ["spec: [1, 2\n", 'a.yaml:2:1: expected "]" to close the bracket opened above'],
    ["kind: job\nspec:\n  x: !foo 1\n", "a.yaml:3:6: unresolved tag: !foo: known tags are !file and !url"],
    [
      "spec: {x: ${A}}\n",
      "a.yaml:1:12: expected the end of this value: a text that goes on needs quotes; inside [ ] and { } a value",
    ],
    ["kind: job\n  scope: s\n", "a.yaml:1:7: expected one value here: a line below is too deep"],
    ["kind: job\nscope\n", 'a.yaml:2:1: expected ":" and a value after this key'],
    ["a: @x\n", 'a.yaml:1:4: a text that begins with "@" needs quotes'],
    ['a: "\\q"\n', 'a.yaml:1:5: "\\q" is not an escape'],
    ["just text\n", "a.yaml:1:1: a manifest is a map with kind, scope, name and spec"],
    ["- 1\n", "a.yaml:1:3: a manifest is a map"],
    ["kind: job\nspec: {x: !file a}\n", "a.yaml:2:17: !file has a meaning only below spec.files of an asset"],
    ["spec: {files: {x: !file none}}\n", 'a.yaml:1:25: "none" does not exist'],
    ["spec: {files: {x: !url {a: 1}}}\n", "a.yaml:1:24: !url needs an address"],
    ["spec: {env_file: [none.env]}\n", 'a.yaml:1:19: "none.env" does not exist'],
    ["spec: {env_file: [/dev/zero]}\n", 'a.yaml:1:19: "/dev/zero" is a device, not a file'],
    ["spec: {env_file: 5}\n", "a.yaml:1:18: env_file is a path or a list of paths"],
    ["spec: {x: *none}\n", "a.yaml:1:11: "],
    ["spec: {<<: 5}\n", "a.yaml:1:8: a merge key needs a map"],
    ["? [a]\n: 1\n", "a.yaml:1:3: a key must be text"],
  ])("%p", async (text, start) => {
    expect(await message({ "a.yaml": text })).toStartWith(start);
  });

  test("an env file is quoted where it is wrong", async () => {
    const files = { "a.yaml": `${web}spec: {env_file: w.env}\n`, "w.env": "A=1\nnonsense\n" };
    expect(await message(files, { paths: ["a.yaml"] })).toStartWith("w.env:2:1: not a variable: write KEY=VALUE");
  });

  test("a resource that is declared twice names both places, whatever the spelling of its kind", async () => {
    const files = { "a.yaml": web, "b.json": '{"kind": "Deployments", "scope": "shop", "name": "web"}' };
    expect(await message(files)).toBe(
      [
        "b.json:1:50: deployment/shop/web is declared twice: first at a.yaml:3:7",
        '  1 | {"kind": "Deployments", "scope": "shop", "name": "web"}',
        "    |                                                  ^^^^^",
      ].join("\n"),
    );
  });

  test("the same name in another scope or kind is another resource", async () => {
    const other = "kind: ingress\nscope: shop\nname: web\n---\nkind: deployment\nscope: lab\nname: web\n";
    expect(await manifests({ "a.yaml": web, "b.yaml": other })).toHaveLength(3);
  });

  test("only so many are shown", async () => {
    const env = Array.from({ length: 30 }, (_, index) => `    V${index}: ${index}`).join("\n");
    expect(await message({ "a.yaml": `spec:\n  env:\n${env}\n` })).toEndWith("\n\nand 10 more");
  });

  test("a map of very many keys takes time linear in their count", async () => {
    const keys = Array.from({ length: 50_000 }, (_, at) => `  k${at}: 1\n`).join("");
    const [manifest] = await manifests({ "a.yaml": `kind: pg\nname: a\nspec:\n${keys}` });
    expect(Object.keys(manifest?.spec ?? {})).toHaveLength(50_000);
  }, 20_000);

  test("depth, and aliases that multiply, end in a fault and not in a crash", async () => {
    for (const levels of [100, 5_000]) {
      const deep = `spec: ${"[".repeat(levels)}${"]".repeat(levels)}\n`;
      expect(await message({ "a.yaml": deep })).toContain("nested");
    }
    const bomb = ["a0: &a0 [x]", ...Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)];
    expect(await message({ "a.yaml": `spec:\n${bomb.map((line) => `  ${line}`).join("\n")}\n` })).toContain(
      "too many values",
    );
    const merges = Array.from({ length: 40 }, (_, i) => `  m${i + 1}: &m${i + 1} {<<: [*m${i}, *m${i}]}`);
    expect(await message({ "a.yaml": `spec:\n  m0: &m0 {x: 1}\n${merges.join("\n")}\n` })).toContain("too many values");
    expect(await message({ "a.yaml": "spec: &a [*a]\n" })).toContain("nested deeper than 64 levels");
  });

  test("control characters of a file do not reach the terminal", async () => {
    expect(await message({ "a.yaml": "kind: job\nspec: {x: 0x1 \x1b[2J}\n" })).not.toContain("\x1b");
  });
});

describe("what the server finds", () => {
  const files = {
    "a.yaml": `${web}spec:\n  ports:\n    - "99999"\n  image: x\n  probes:\n    liveness: {port: 1}\n`,
    "b.yaml": "kind: job\nname: j\n",
  };

  test("is shown at its place, or at the closest thing around it", async () => {
    const set = await read(files);
    const told = [
      { manifest: 2, path: "spec.image", message: "is required" },
      { manifest: 1, path: "spec.ports[0]", message: '"99999" is not a port' },
      { manifest: 1, path: "spec.probes.readiness.period", message: "is required" },
      { manifest: 1, path: "spec.probes", message: 'unknown field: did you mean "probe"?', reason: "UnknownField" },
      { path: "", message: "two ingresses want one host" },
    ];
    expect(set.explain(told)).toBe(
      [
        'a.yaml:6:7: spec.ports[0]: "99999" is not a port',
        '  6 |     - "99999"',
        "    |       ^^^^^^^",
        "",
        "a.yaml:8:3: spec.probes.readiness.period: is required",
        "  8 |   probes:",
        "    |   ^^^^^^",
        "",
        'a.yaml:8:3: spec.probes: unknown field: did you mean "probe"?',
        "  8 |   probes:",
        "    |   ^^^^^^",
        "",
        "b.yaml:1:1: spec.image: is required",
        "  1 | kind: job",
        "    | ^^^^",
        "",
        "two ingresses want one host",
      ].join("\n"),
    );
  });

  test("points at the value of a scalar, and at the key of a field that is not known", async () => {
    const odd = await read({ "c.yaml": "kind: job\nname: j\nextra: 1\n" });
    const short = { manifest: 1, path: "name", message: '"j" is too short' };
    expect(odd.explain([short])).toStartWith('c.yaml:2:7: name: "j" is too short');
    const unknown = { manifest: 1, path: "extra", message: "unknown field", reason: "UnknownField" };
    expect(odd.explain([unknown])).toStartWith("c.yaml:3:1: extra: unknown field");
  });

  test("inside what a plugin made of a block points at the block", async () => {
    const block = await read({ "d.yaml": "kind: pg\nname: j\nspec:\n  image: x\n" });
    const within = ["pg/shop/j", "deployment/shop/j"];
    expect(block.explain([{ manifest: 1, within, path: "spec.image", message: "is masked" }])).toStartWith(
      "d.yaml:1:1: pg/shop/j: deployment/shop/j: spec.image: is masked\n",
    );
  });

  test("about manifests that are not there has no place", async () => {
    const set = await read(files);
    expect(set.explain([{ manifest: 9, path: "spec", message: "bad" }])).toBe("spec: bad");
    expect(set.explain([{ path: "", message: "disk full: free some" }])).toBe("disk full: free some");
  });
});
