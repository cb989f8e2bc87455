// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { describe, expect, test } from "bun:test";
import { convertFiles, type Target } from "../../../../../src/client/manifests/convert/convert.ts";
import type { Format } from "../../../../../src/client/manifests/source.ts";

const limits = { manifestDepthMax: 64, manifestNodesMax: 10_000, faultsShownMax: 20 };

function convert(text: string, format: Format, to: Target): string {
  return convertFiles([{ name: `a.${format}`, text, directory: "/", format }], to, limits);
}

const yaml = `# The shop.
kind: deployment # runs always
scope: shop
name: web
spec:
  # where it comes from
  image: web:\${TAG:-latest} # pinned
  replicas: \${COUNT}
  ports: ["80"]
  command:
    - sh
    # the script
    - |
      set -eu
      echo "$\${HOME}" \${X}
  env: # variables
    A: &a "1"
    B: *a
    a.b: "\${Y}"
  inits:
    - name: one # label
      command: [a]
  # the end
---
kind: asset
name: files
spec:
  files:
    conf: !file nginx.conf
    here: !url https://x/\${V}
    there: !url {url: https://y, timeout: 10s}
# last words
`;

const hcl = `# The shop.
# runs always
deployment "shop" "web" {
  # where it comes from
  image    = "web:\${TAG:-latest}" # pinned
  replicas = \${COUNT}
  ports    = ["80"]
  command = [
    "sh",
    # the script
    <<-EOT
      set -eu
      echo "$\${HOME}" \${X}
    EOT
  ]
  # variables
  env = {
    A     = "1"
    B     = "1"
    "a.b" = "\${Y}"
  }
  init "one" { # label
    command = ["a"]
  }
  # the end
}

asset "files" {
  conf = file("nginx.conf")
  here = url("https://x/\${V}")
  there = url("https://y", {
    timeout = "10s"
  })
}

# last words
`;

const again = `# The shop.
# runs always
kind: deployment
scope: shop
name: web
spec:
  # where it comes from
  image: web:\${TAG:-latest} # pinned
  replicas: \${COUNT}
  ports:
    - "80"
  command:
    - sh
    # the script
    - |
      set -eu
      echo "$\${HOME}" \${X}
  # variables
  env:
    A: "1"
    B: "1"
    a.b: "\${Y}"
  inits:
    # label
    - name: one
      command:
        - a
  # the end
---
kind: asset
name: files
spec:
  files:
    conf: !file nginx.conf
    here: !url https://x/\${V}
    there: !url
      url: https://y
      timeout: 10s
# last words
`;

describe("convertFiles", () => {
  test("YAML becomes HCL, with variables, files and comments", () => {
    expect(convert(yaml, "yaml", "hcl")).toBe(hcl);
  });

  test("HCL becomes YAML", () => {
    expect(convert(hcl, "hcl", "yaml")).toBe(again);
    const moved = hcl.replace('  init "one" { # label', '  # label\n  init "one" {');
    expect(convert(again, "yaml", "hcl")).toBe(moved);
  });

  test("a cron job has its job in the block, but for fields that it has itself", () => {
    const job = "{image: x, failed_history_limit: 5}";
    const text = `kind: cronjob\nscope: s\nname: a\nspec: {schedule: "@daily", failed_history_limit: 3, job: ${job}}\n`;
    const block = convert(text, "yaml", "hcl");
    expect(block).toBe(
      'cronjob "s" "a" {\n  schedule             = "@daily"\n  failed_history_limit = 3\n  job {\n    failed_history_limit = 5\n  }\n  image = "x"\n}\n',
    );
  });

  test("a block of a plugin keeps quotes around variables where it has them", () => {
    const text = 'kind: pg\nscope: s\nname: a\nspec: {n: 1, q: "${N}", list: [{a: 1}], inner: {x: null}}\n';
    expect(convert(text, "yaml", "hcl")).toBe(
      'pg "s" "a" {\n  n = 1\n  q = "${N}"\n  list = [{\n    a = 1\n  }]\n  inner {\n    x = null\n  }\n}\n',
    );
  });

  test("calculations of numbers are replaced by their results", () => {
    const text = 'app "s" "a" {\n  replicas = 1 + 2 * 2\n  image = true ? "x" : "y"\n}\n';
    expect(convert(text, "hcl", "yaml")).toBe("kind: app\nscope: s\nname: a\nspec:\n  replicas: 5\n  image: x\n");
  });

  test("comments of several lines, and those that have no place of their own", () => {
    const text = '/*\n * one\n * two\n */\njob "s" "a" {\n  image = "x"\n} // behind\n# between\n\njob "s" "b" {}\n';
    const written = convert(text, "hcl", "yaml");
    expect(written).toStartWith("# one\n# two\nkind: job\n");
    expect(written).toContain("---\n# behind\n# between\nkind: job\n");
  });

  const spec = (fields: string) => `kind: app\nscope: s\nname: a\nspec:\n  ${fields}\n`;
  test.each<[string, Format, Target, string]>([
    ["kind: app\nscope: s\nname: web-${E}\nspec: {}\n", "yaml", "hcl", "a.yaml:3:7: name: a label of HCL cannot hold"],
    ["kind: app\nname: web\n", "yaml", "hcl", "a.yaml:1:1: scope: a block of this kind needs a scope in HCL"],
    [`metadata: {if_revision: 2}\n${spec("image: x")}`, "yaml", "hcl", "a.yaml:1:25: metadata.if_revision: "],
    ["kind: asset\nname: a\nspec: {files: {1a: x}}\n", "yaml", "hcl", 'a.yaml:3:20: spec.files.1a: "1a" cannot be'],
    [spec("ports: [80]"), "yaml", "hcl", 'a.yaml:5:11: spec.ports[0]: would be read as "80" after the conversion'],
    [spec('image: "${X:-a }"'), "yaml", "hcl", "a.yaml:5:10: spec.image: HCL has no default that ends in a blank"],
    [spec("env: {A: 1}"), "yaml", "hcl", "a.yaml:5:12: environment variables are text"],
    ['app "s" "a" {\n  replicas = ${N} + 1\n}\n', "hcl", "yaml", "a.hcl:2:14: YAML has no calculation with variables"],
    ['pg "s" "a" {\n  x = { "${K}" = 1 }\n}\n', "hcl", "yaml", "a.hcl:2:7: spec.x: a key that holds a variable"],
    ["app {\n", "hcl", "yaml", 'a.hcl:2:1: expected "}" before the end of the file'],
  ])("%p is refused at its place", (text, format, to, message) => {
    expect(() => convert(text, format, to)).toThrow(message);
  });
});
