import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { folder } from "../../support/files.ts";
import { executable } from "../../support/executable.ts";
import { isRoot } from "../../support/is-root.ts";
import { type CliOptions, runCli } from "./run-cli.ts";

const berth = (args: string[], options: CliOptions) => runCli(args, { ...options, executable });

const compose = "name: shop\nservices:\n  web:\n    image: web:1\n    restart: always\n    depends_on: [db]\n";

test("the tools for manifest files, one after the other, without a server", async () => {
  using place = folder({ "compose.yaml": compose, "d/rough.hcl": 'job "shop" "a" {\nimage="x"\n}\n' });
  const { path: cwd } = place;
  const imported = await berth(["import", "compose", "--to", "hcl"], { cwd });
  expect(imported).toMatchObject({
    code: 0,
    out: 'deployment "shop" "web" {\n  image   = "web:1"\n  restart = "always"\n}\n',
  });
  expect(imported.err).toBe("1 manifest: everything carries over\n");
  const converted = await berth(["convert", "-", "--format", "hcl", "--to", "yaml"], { cwd, stdin: imported.out });
  expect(converted.out).toBe("kind: deployment\nscope: shop\nname: web\nspec:\n  image: web:1\n  restart: always\n");
  expect(await berth(["fmt"], { cwd })).toMatchObject({ code: 0, out: "d/rough.hcl\n" });
  expect(readFileSync(join(cwd, "d/rough.hcl"), "utf8")).toBe('job "shop" "a" {\n  image = "x"\n}\n');
  expect(await berth(["validate", "d"], { cwd })).toMatchObject({ code: 0, out: "1 manifest in 1 file: no faults\n" });
  const exported = await berth(["export", "kubernetes", "-f", "d"], { cwd });
  expect(exported.out).toContain("kind: Job\n");
  expect(JSON.parse((await berth(["schema"], { cwd })).out).title).toBe("berth manifest");
});

test("of a thousand faults the first are printed with the count of the others, and JSON has all", async () => {
  const wrong = (at: number) => `kind: deployment\nscope: shop\nname: a${at}\nspec: {image: a, replicas: many}\n`;
  using place = folder({ "all.yaml": Array.from({ length: 1000 }, (_, at) => wrong(at)).join("---\n") });
  const { path: cwd } = place;
  const text = await berth(["validate", "all.yaml"], { cwd });
  expect([text.code, text.err.match(/expected integer/g)?.length, text.err.trimEnd().split("\n").at(-1)]).toEqual([
    ...[1, 20, "and 980 more"],
  ]);
  const { problems } = JSON.parse((await berth(["validate", "all.yaml", "-o", "json"], { cwd })).out);
  expect(problems).toHaveLength(1000);
});

test.skipIf(!isRoot)("a full disk is named with the file, and leaves no half of one", () => {
  using place = folder({});
  const script = `
    mount -t tmpfs -o size=32k none "$1"; cd "$1"; mkdir app; echo "FROM x" >app/Dockerfile; echo "{}" >remotes.json; echo "services: {web: {image: a}}" >c.yml
    export BERTH_REMOTES="$1/remotes.json" BERTH_TUNNELS="$1/t"; mkdir t
    dd if=/dev/zero of=fill bs=1k 2>/dev/null
    for words in "init app" "import compose c.yml --write nx.yaml" "remote add x a@b" "-r a@b get"; do "$0" $words; echo "rc $?"; done
    find . -type f | sort; cat remotes.json`;
  const { stdout } = Bun.spawnSync(["unshare", "-m", "sh", "-c", `exec 2>&1; ${script}`, executable, place.path], {
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/nonexistent" },
  });
  const told = (file: string) => [`error: no space left to write "${file}": free some disk space`, "rc 1"];
  const lines = stdout.toString().trimEnd().split("\n");
  expect(lines).toEqual([
    ...told("app/berth.yaml"),
    ...told("nx.yaml"),
    ...told(`${place.path}/remotes.json`),
    expect.stringMatching(/^error: no space left to write ".*\.lock": free some disk space$/),
    "rc 1",
    ...["./app/Dockerfile", "./c.yml", "./fill", "./remotes.json", "{}"],
  ]);
});
