import { own } from "../base/pure/fields.ts";
import { diskFailure } from "../base/wire/disk-failure.ts";
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { CommandFailure, usageFailure } from "../client/basics/failures.ts";
import { isPluginName, pluginNameForm } from "../orchestration/core/plugin-names.ts";
import { isCoreKind } from "../orchestration/core/plugins/plugin-yml.ts";
import expandShell from "./plugin-templates/expand.sh.txt";
import goModule from "./plugin-templates/go.mod.txt";
import helloShell from "./plugin-templates/hello.sh.txt";
import mainGo from "./plugin-templates/main.go.txt";
import mainPy from "./plugin-templates/main.py.txt";
import mainTs from "./plugin-templates/main.ts.txt";
import pluginYml from "./plugin-templates/plugin.yml.txt";
import readme from "./plugin-templates/readme.md.txt";
import schema from "./plugin-templates/schema.json.txt";
import testExpand from "./plugin-templates/test-expand.json.txt";
import testHello from "./plugin-templates/test-hello.json.txt";
import { sayNow } from "../client/basics/output.ts";

export const pluginInitUsage = `berth plugins init greet --lang bash

usage: berth plugins init NAME [--lang ts|bash|python|go] [--dir DIR]

Writes a plugin that works: plugin.yml, a block with its schema, a command, and tests.

  --lang LANG   ts, bash, python or go (ts)
  --dir DIR     where to write it (default: a folder with its name)`;

interface Language {
  entrypoint: string | undefined;
  /** On the server. */
  programs: readonly string[];
  files: Readonly<Record<string, string>>;
  /** How its program comes to be. */
  build: string;
  /** What a release holds beside the tarball. */
  asset: string;
}

const binary = (command: string) => `Build it first:\n\n\`\`\`sh\n${command}\n\`\`\`\n\n`;
const assets =
  " Give the release a program per machine, `__NAME___linux_amd64` and\n`__NAME___linux_arm64`, and a `checksums.txt` as `sha256sum` prints it: they are put where the entrypoint is.";

const languages: Readonly<Record<string, Language>> = {
  ts: {
    entrypoint: "main.ts",
    programs: [],
    files: { "main.ts": mainTs },
    build: "It runs on bun: that of the server, or the one that is part of berth.\n\n",
    asset: "",
  },
  bash: {
    entrypoint: undefined,
    programs: ["bash", "jq"],
    files: { "bin/expand": expandShell, "bin/hello": helloShell },
    build: "It runs with `bash` and `jq`, which must be on the server's PATH.\n\n",
    asset: "",
  },
  python: {
    entrypoint: "main.py",
    programs: ["python3"],
    files: { "main.py": mainPy, ".gitignore": "__pycache__/\n" },
    build: "It runs with `python3`, which must be on the server's PATH, and needs no package beside it.\n\n",
    asset: "",
  },
  go: {
    entrypoint: "bin/__NAME__",
    programs: [],
    files: { "main.go": mainGo, "go.mod": goModule, ".gitignore": "bin/\n" },
    build: binary("CGO_ENABLED=0 go build -o bin/__NAME__ ."),
    asset: assets,
  },
};

/** `berth plugins init`. */
export async function pluginInitCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    options: { lang: { type: "string" }, dir: { type: "string" }, help: { type: "boolean", short: "h" } },
    allowPositionals: true,
  });
  if (values.help) return say(pluginInitUsage);
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw usageFailure("say what it is called: berth plugins init NAME");
  if (!isPluginName(name)) throw usageFailure(`"${name}" is not a valid plugin name: ${pluginNameForm}`);
  if (isCoreKind(name)) throw usageFailure(`"${name}" is a kind of the server itself`);
  const lang = values.lang ?? "ts";
  const language = own(languages, lang);
  if (language === undefined) throw usageFailure(`no template for "${lang}": ${Object.keys(languages).join(", ")}`);
  const folder = resolve(values.dir ?? name);
  const files = filesOf(name, language);
  await writeFiles(folder, files);
  const lines = Object.keys(files)
    .sort()
    .map((file) => `  ${file}`);
  return say(
    [
      `${folder}:`,
      ...lines,
      "",
      `next: README.md${language.programs.length > 0 ? "" : ", which says how it is built"}, then`,
      `  berth plugins test ${values.dir ?? name}`,
    ].join("\n"),
  );
}

/** What is written for a name and a language, by path. */
function filesOf(name: string, language: Language): Record<string, string> {
  const { entrypoint, programs, files, build, asset } = language;
  const fill = (text: string) =>
    text
      .replaceAll("__ENTRYPOINT__", entrypoint === undefined ? "" : `entrypoint: ${entrypoint}\n`)
      .replaceAll("__REQUIRES__", programs.length === 0 ? "" : `requires: { programs: [${programs.join(", ")}] }`)
      .replaceAll("__BUILD__", build)
      .replaceAll("__ASSET__", asset)
      .replaceAll("__NAME__", name)
      .replace(/\n+$/, "\n");
  const common = {
    "plugin.yml": pluginYml,
    "schema.json": schema,
    "README.md": readme,
    "tests/expand.json": testExpand,
    "tests/hello.json": testHello,
  };
  return Object.fromEntries(Object.entries({ ...common, ...files }).map(([path, text]) => [path, fill(text)]));
}

async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  const there = await readdir(folder).catch((): string[] => []);
  if (there.length > 0) throw new CommandFailure(`"${folder}" is not empty: name another folder with --dir`);
  for (const [path, text] of Object.entries(files)) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text, { flag: "wx" }).catch((error: unknown) => {
      throw diskFailure(error, target);
    });
    if (text.startsWith("#!")) await chmod(target, 0o755);
  }
}

function say(text: string): number {
  sayNow(text);
  return 0;
}
