import { inFolder } from "../node/parts.ts";
import type { SourceTree } from "../runtime.ts";

/** What a folder holds of a language. */
export interface Sources {
  /** Texts without lines that are only a comment. */
  files: { path: string; text: string }[];
  /** There is more than was read. */
  isCut: boolean;
}

const script = /(?:^|\/)www$|(?<!\.d)\.[cm]?[jt]sx?$/;
const endings: Readonly<Record<string, RegExp>> = {
  ...{ node: script, bun: script, deno: script },
  python: /\.py$/,
  ruby: /\.(?:rb|ru)$/,
  php: /\.php$|(?:^|\/)config\/(?:packages\/(?:prod\/)?)?[\w-]{1,40}\.ya?ml$/,
  go: /(?<!_test)\.go$|(?:^|\/)(?:conf|config|configs|configuration|settings)(?:\/[\w-]{1,40})?\.(?:ya?ml|toml|json)$/,
  rust: /\.rs$|(?:^|\/)(?:conf|config|configs|configuration|settings)(?:\/[\w-]{1,40})?\.(?:ya?ml|toml|json)$/,
  java: /\.(?:java|kt|properties|conf)$|(?:^|\/)application[\w-]{0,40}\.ya?ml$|(?:^|\/)resources\/[\w-]{1,40}\.json$/,
  dotnet: /\.[cf]s$|(?:^|\/)appsettings(?:\.Production)?\.json$/,
  elixir: /\.exs?$/,
};
/** Settings of a build, which are in the folder itself. */
const building = /^[\w.-]{1,60}\.config\.[cm]?[jt]s$/;
/** Folders with nothing that runs on the server. */
const skipped =
  /^(?:\.|_|node_modules|vendor|venv|env\/|(?:unit|integration)?-?tests?\/|spec\/|e2e\/|cypress\/|mocks?\/|examples?\/|samples?\/|docs?\/|dist\/|out\/|target\/|obj\/|coverage\/|fixtures\/|migrations\/|client\/|frontend\/|public\/|static\/|assets\/(?!.{0,9}go)|scripts\/|tools\/|benchmarks?\/)/i;
/** Names of packages, which say nothing of what is in them: Spring's own begin is com.example. */
const packages = /(?:^|\/)src\/main\/(?:java|kotlin|scala|groovy)\//;
const tested =
  /^(?:mix\.exs|setup\.py)$|[._](?:test|spec|stories)\.[cm]?[jt]sx?$|(?:^|\/)(?:test_[^/]{0,100}|[^/]{0,100}_(?:test|spec)|conftest)\.(?:py|rb|exs)$|^application-(?:dev|test|local)/;
const limits = { files: 400, folders: 400, text: 64 * 1024, all: 3 * 1024 * 1024 };

/** The sources of a language in a folder, those near its root first. */
export function sourcesOf(whole: SourceTree, language: string, folder = ""): Sources {
  const tree = inFolder(whole, folder);
  const ending = endings[language];
  const found: Sources = { files: [], isCut: false };
  const queue = ending === undefined ? [] : [""];
  let size = 0;
  for (let looks = 0; queue.length > 0; looks++) {
    const at = queue.shift() ?? "";
    if (looks >= limits.folders || found.files.length >= limits.files || size > limits.all) {
      found.isCut = true;
      break;
    }
    for (const name of tree.list(at.slice(0, -1))) {
      if (name.endsWith("/") && (packages.test(at) || !skipped.test(name))) queue.push(at + name);
      else if (
        ending?.test(at + name) === true &&
        !tested.test(name) &&
        !building.test(at + name) &&
        found.files.length < limits.files
      ) {
        const text = (tree.read(at + name) ?? "").slice(0, limits.text);
        size += text.length;
        found.files.push({ path: folder + at + name, text: withoutComments(text) });
      }
    }
  }
  // The page that begins is in a folder of files for visitors.
  for (const path of language === "php" ? ["public/index.php", "web/index.php"] : [])
    if (tree.has(path))
      found.files.push({ path: folder + path, text: withoutComments((tree.read(path) ?? "").slice(0, limits.text)) });
  return found;
}

function withoutComments(text: string): string {
  return text.replaceAll(/^[ \t]*(?:\/\/(?!go:embed)|#(?![![])|\*|\/\*|;;).*$/gm, "");
}

const looked = ["", "config/", "src/", "src/config/", "app/", "app/config/", "conf/"];
const sample =
  /^(?!\.?env|README|docker|compose|Makefile|phpunit|phpstan|phpcs|\.)([\w-]{1,60}(?:\.[\w]{1,10})?)[._-](?:example|sample|dist|template|default)(\.(?:json|ya?ml|php|py|toml|ini|rb|js|ts|conf|exs))?$/i;
const opens =
  /\b(?:open|readFileSync|isfile|exists|ReadFile|Open|load_file|read_to_string|from_file|LoadFile)\(\s*["'](?:\.\/)?([\w-]{1,60}\.(?:json|ya?ml|toml|ini|cfg))["']/g;
const imports = /(?:\brequire\(|\bfrom|\bimport)\s{0,3}["'](\.{1,2}\/[\w./@-]{1,150})["']/g;
/** What PHP ends without. */
const requires =
  /\brequire(?:_once)?[ \t]{0,3}\(?[ \t]{0,3}(?:(?:__DIR__|dirname\(__FILE__\))[ \t]{0,3}\.[ \t]{0,3})?["']\/?((?:\.{1,2}\/){0,4}[\w-][\w./-]{0,100}\.php)["']/g;
const moduleEnds = [
  "",
  ".js",
  ".ts",
  ".jsx",
  ".tsx",
  ".mjs",
  ".cjs",
  ".mts",
  ".cts",
  ".json",
  ".node",
  ".vue",
  ".svelte",
  "/index.js",
  "/index.ts",
  "/index.tsx",
  "/index.mjs",
  "/index.json",
];
/** Folders that a build or a tool makes. */
const madeLater =
  /(?:^|\/)(?:[\w-]{0,30}(?:dist|build|built|generated)[\w-]{0,30}|out|lib|gen|\.\w+|node_modules)(?:\/|$)/i;

/** Files that the sources read, or of which only a sample is there: their names, and what shows it. */
export function absentFiles(tree: SourceTree, { files }: Sources, folder: string): { name: string; from: string }[] {
  const samples = looked.flatMap((at) =>
    tree.list((folder + at).replace(/\/$/, "")).flatMap((name) => {
      const [, base = "", end = ""] = sample.exec(name) ?? [];
      const own = base.includes(".") ? base : `${base}${end}`;
      return base === "" || !own.includes(".") || tree.has(folder + at + own)
        ? []
        : [{ name: at + own, from: at + name }];
    }),
  );
  const read = files.flatMap(({ path, text }) =>
    [...text.matchAll(opens)].flatMap(([, name = ""]) => {
      const isMade =
        new RegExp(`["']${name.replaceAll(".", "[.]")}["'][^\\n]{0,40}["'][wa]`).test(text) ||
        /writeFile|json\.dump|WriteFile|\.dump\(/.test(text);
      return isMade || tree.has(folder + name) || tree.has(`${path.slice(0, path.lastIndexOf("/") + 1)}${name}`)
        ? []
        : [{ name, from: path }];
    }),
  );
  const imported = files.flatMap(({ path, text }) =>
    /\.[cm]?[jt]sx?$/.test(path)
      ? [...text.matchAll(imports)].flatMap(([, to = ""]) => {
          const name = joined(path.slice(0, path.lastIndexOf("/") + 1), to);
          const bare = name.replace(/\.[cm]?jsx?$/, "");
          const isThere = moduleEnds.some((end) => tree.has(name + end) || tree.has(bare + end));
          return isThere ||
            madeLater.test(name) ||
            name.startsWith("..") ||
            /\.(?:css|scss|less|svg|png|html|graphql|gql|md)$/.test(name)
            ? []
            : [{ name, from: path }];
        })
      : [],
  );
  const required = files.flatMap(({ path, text }) =>
    path.endsWith(".php")
      ? [...text.matchAll(requires)].flatMap(([, to = ""]) => {
          const name = joined(path.slice(0, path.lastIndexOf("/") + 1), to);
          const isThere = tree.has(name) || tree.has(joined(folder, to)) || text.includes("file_exists");
          return isThere || /^\.\.|(?:^|\/)vendor\//.test(name) ? [] : [{ name, from: path }];
        })
      : [],
  );
  const all = [...compiledIn(tree, files), ...imported, ...required, ...samples, ...read];
  return all.filter(({ name }, index) => all.findIndex((one) => one.name === name) === index);
}

/** Files that a compiler takes in and that are not there. */
export function compiledIn(tree: SourceTree, files: Sources["files"]): { name: string; from: string }[] {
  const secret = files.flatMap(({ path, text }) =>
    path.endsWith(".exs")
      ? [...text.matchAll(/^[ \t]*import_config "([\w.-]{1,80})"/gm)].flatMap(([, name = ""]) => {
          const at = path.slice(0, path.lastIndexOf("/") + 1) + name;
          return tree.has(at) ? [] : [{ name: at, from: path }];
        })
      : [],
  );
  const embedded = files.flatMap(({ path, text }) =>
    [...text.matchAll(/^\/\/go:embed[ \t]+(?:all:)?([\w./-]{1,120})/gm)].flatMap(([, name = ""]) => {
      const at = path.slice(0, path.lastIndexOf("/") + 1) + name.replace(/\/$/, "");
      return path.endsWith(".go") && !tree.has(at) ? [{ name: at, from: path }] : [];
    }),
  );
  return [...secret, ...embedded, ...linkedIn(tree, files)];
}

/** What rust-embed, include_dir and tower-http take in from a folder that a build makes. */
function linkedIn(tree: SourceTree, files: Sources["files"]): { name: string; from: string }[] {
  return files.flatMap(({ path, text }) =>
    path.endsWith(".rs")
      ? [
          ...text.matchAll(
            /(?:#\[folder\s{0,3}=\s{0,3}"|include_dir!\(\s{0,9}")(?:\$CARGO_MANIFEST_DIR\/|\.\/)?([\w./-]{1,120}?)\/?"/g,
          ),
        ].flatMap(([, name = ""]) => (name.startsWith("..") || tree.has(name) ? [] : [{ name, from: path }]))
      : [],
  );
}

function joined(folder: string, path: string): string {
  const parts = folder.split("/").filter((part) => part !== "");
  for (const part of path.split("/")) {
    if (part === "..") parts.length === 0 ? parts.push("..") : parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}

/** Names that a line takes out of the environment, or out of what a file `.env` says, and gives no default. */
export function takenFromEnv(files: Sources["files"]): string[] {
  return files.flatMap(({ path, text }) =>
    /\.[cm]?[jt]sx?$/.test(path)
      ? [...text.matchAll(takes)].flatMap(([, list = ""]) =>
          [...list.matchAll(/(?<=^|,)\s{0,40}([A-Z][A-Z0-9_]{1,60})\s{0,9}(?:$|,|:(?![^,]{0,200}=))/g)].map(
            ([, name = ""]) => name,
          ),
        )
      : [],
  );
}

const takes =
  /\{([^{}=]{1,600}(?:=[^{}=]{1,200}){0,20})\}\s{0,3}(?::[^=\n]{1,60})?=\s{0,3}(?:await )?(?:(?:process|Bun|import\.meta)\.env\b|Deno\.env\.toObject\(|(?:dotenv\.)?config(?:Sync)?\()/g;
