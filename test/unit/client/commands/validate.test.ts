import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { cli } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";

const good = "kind: deployment\nscope: shop\nname: web\nspec: {image: web:1}\n";

async function validate(files: Record<string, string>, words: string[], stdin?: string) {
  using place = folder(files);
  return await cli(["validate", ...words], { cwd: place.path, ...(stdin === undefined ? {} : { stdin }) });
}

describe("validate", () => {
  test("asks no server, and says how much it has read", async () => {
    const files = { "d/a.yaml": good, "d/b.hcl": 'app "shop" "x" {\n  image = "x"\n}\n' };
    expect(await validate(files, ["d"])).toEqual({
      code: 0,
      out: "2 manifests in 2 files: no faults\n",
      err: "",
      calls: [],
    });
    expect(await validate(files, ["-f", "d/a.yaml"])).toMatchObject({
      code: 0,
      out: "1 manifest in 1 file: no faults\n",
    });
    expect(await validate({}, ["-", "--format", "hcl"], 'asset "x" {}\n')).toMatchObject({ code: 0 });
  });

  test("without a path finds what berth up finds", async () => {
    const { code, out } = await validate({ "berth.yaml": good, "other.yaml": "kind: 1\n" }, []);
    expect([code, out]).toEqual([0, "1 manifest in 1 file: no faults\n"]);
    expect((await validate({ ".berth/a.yaml": good }, [])).code).toBe(0);
    for (const place of ["berth.hcl", "berth.voodu", "berth.vdu", "berth.vd", ".voodu/a.vd"]) {
      const files = { [place]: 'job "shop" "x" {\n  image = "x"\n}\n', ".voodu/app.json": '{"scope": "shop"}' };
      expect((await validate(files, [])).out).toBe("1 manifest in 1 file: no faults\n");
    }
  });

  test("manifests of another controller with this contract are right as they are, with every name of HCL", async () => {
    const { code, out } = await cli(["validate", join(import.meta.dir, "../../../support/drop-in")]);
    expect([code, out]).toEqual([0, "17 manifests in 10 files: no faults\n"]);
  });

  test("a fault has its file, line and column, in YAML as in HCL", async () => {
    const yaml = await validate({ "a.yaml": good.replace("image", "imag") }, ["a.yaml"]);
    expect(yaml).toMatchObject({ code: 1, out: "" });
    expect(yaml.err).toBe(
      'a.yaml:4:8: spec.imag: unknown field; did you mean "image"\n  4 | spec: {imag: web:1}\n    |        ^^^^\n',
    );
    const hcl = await validate({ "a.hcl": 'app "shop" "x" {\n  imag = "x"\n}\n' }, ["a.hcl"]);
    expect(hcl.err).toBe(
      'a.hcl:2:3: spec.imag: unknown field; did you mean "image"\n  2 |   imag = "x"\n    |   ^^^^\n',
    );
  });

  test("a host that Let's Encrypt does not certify is a warning, also of an app", async () => {
    const app = 'app "shop" "x" {\n  image = "x"\n  ports = ["80"]\n  host = "x.localhost"\n  tls {}\n}\n';
    const warning = "a.hcl:1:1: ingress/shop/x: tls: Let's Encrypt certifies public domains only, not x.localhost";
    const { code, err } = await validate({ "a.hcl": app }, ["a.hcl"]);
    expect([code, err]).toEqual([0, expect.stringContaining(warning)]);
    const { out } = await validate({ "a.hcl": app }, ["a.hcl", "-o", "json"]);
    expect(JSON.parse(out).data.warnings).toEqual([expect.stringContaining(warning)]);
  });

  test("env_from that names nothing in the files is a warning that says that no server was asked", async () => {
    const app = (name: string, source: string) =>
      `kind: deployment\nscope: shop\nname: ${name}\nspec: {image: a, env_from: [${source}]}\n`;
    const files = { "a.yaml": `${app("web", "jobs")}---\n${app("jobs", "team/shared")}---\n${app("mail", "jbos")}` };
    const { code, err } = await validate(files, ["a.yaml"]);
    expect([code, err.trimEnd().split("\n")]).toEqual([
      0,
      [
        "warning: a.yaml:6:7: deployment/shop/jobs: env_from: nothing in these files is called team/shared; no server was asked: berth apply --dry-run does",
        'warning: a.yaml:11:7: deployment/shop/mail: env_from: nothing in these files is called shop/jbos; did you mean "shop/jobs"; no server was asked: berth apply --dry-run does',
      ],
    ]);
  });

  test("a scope that is a top-level domain too is a warning for each app in it", async () => {
    const { err } = await validate({ "a.yaml": good.replaceAll("shop", "dev") }, ["a.yaml"]);
    expect(err).toContain('scope: "dev" is a top-level domain too, so containers reach this app as ');
  });

  test("a block of a plugin is told with its place; its fields are not checked", async () => {
    const { code, err } = await validate({ "a.hcl": '\npostgres "shop" "db" {\n  x = 1\n}\n' }, ["a.hcl"]);
    expect(code).toBe(0);
    expect(err).toStartWith("a.hcl:2:1: postgres/shop/db: the fields of a plugin's kind are checked by the server");
  });

  test("of many notes and warnings the first are printed, and how many more there are", async () => {
    const each = (count: number, text: (at: number) => string) =>
      Array.from({ length: count }, (_, at) => text(at)).join("");
    const blocks = await validate({ "a.hcl": each(1000, (at) => `postgres "shop" "db${at}" {}\n`) }, ["a.hcl"]);
    expect(blocks.err.trimEnd().split("\n").slice(20)).toEqual(["and 980 more blocks of plugins"]);
    const apps = each(30, (at) => `app "dev" "a${at}" {\n  image = "x"\n}\n`);
    const { err } = await validate({ "a.hcl": apps }, ["a.hcl"]);
    expect(err.trimEnd().split("\n").slice(20)).toEqual(["and 10 more warnings; -o json has all"]);
    const { out } = await validate({ "a.hcl": apps }, ["a.hcl", "-o", "json"]);
    expect(JSON.parse(out).data.warnings).toHaveLength(30);
  });

  test("for programs: the problems, or what was read", async () => {
    const wrong = await validate({ "a.yaml": good.replace("image", "imag") }, ["a.yaml", "-o", "json"]);
    expect([wrong.code, JSON.parse(wrong.out).problems]).toEqual([
      1,
      [{ manifest: 1, path: "spec.imag", message: 'unknown field; did you mean "image"', reason: "UnknownField" }],
    ]);
    const right = await validate({ "a.yaml": good }, ["a.yaml", "-o", "json"]);
    expect(JSON.parse(right.out).data).toEqual({ manifests: 1, files: 1, unchecked: [] });
  });

  test.each([
    [[], 2, "error: say which manifests: validate FILE"],
    [["none.yaml"], 1, 'error: "none.yaml" does not exist'],
  ])("%p ends with %p", async (words, code, err) => {
    const outcome = await validate({}, words);
    expect(outcome.code).toBe(code);
    expect(outcome.err).toStartWith(err);
  });
});
