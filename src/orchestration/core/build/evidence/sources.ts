import { inFolder } from "../node/parts.ts";
import { firstOf, type SourceTree } from "../runtime.ts";

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
      if (name.endsWith("/") && !skipped.test(name)) queue.push(at + name);
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
  const all = [...compiledIn(tree, files), ...imported, ...samples, ...read];
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

const databases: readonly RegExp[] = [
  /\bsqlite:(?:\/\/)?\/?(?:\.\/)?([\w./-]{0,120}\.\w{2,8})/,
  /\bjdbc:(?:sqlite|h2:file|hsqldb:file|derby(?!:\/\/)|h2(?=:[.~]\/)):(?:\.\/)?([\w./~-]{1,120})/,
  /\b(?:new (?:sqlite3?\.)?Database|Database|connect|DatabaseSync|open)\(\s*["'`](?:\.\/)?([\w./-]{1,120}\.(?:db|sqlite3?|sqlite))["'`]/,
  /\bsqlite:\/\/\/["'] ?[+.%][^\n]{0,120}["']\/?([\w.-]{1,60}\.\w{2,8})["']/,
  /\b(?:Data Source|Filename)=(?:\.\/)?([\w./-]{1,120}\.(?:db|sqlite3?))/,
  /\bOpen\(\s*(?:"sqlite3?"\s*,\s*)?"(?:file:)?(?:\.\/)?([\w./-]{1,120}\.(?:db|sqlite3?))\b/,
  /\b(?:filename|storage|database|DB_PATH|DATABASE_PATH)["']?\s*[:=]\s*["'`](?:\.\/)?([\w./-]{1,120}\.(?:db|sqlite3?|sqlite))["'`]/,
];
const uploads: readonly RegExp[] = [
  /\bmulter\(\s*\{\s*dest\s*:\s*(?:path\.(?:join|resolve)\(\s*__dirname\s*,\s*)?["'`](?:\.\/)?([\w./-]{1,120})["'`]/,
  /\bUPLOAD(?:S|_FOLDER|_DIR|_PATH)["'\]]{0,2}\s*[:=]\s*["'](?:\.\/)?([\w./-]{1,120})["']/i,
  /\bdestination\s*:\s*["'`](?:\.\/)?([\w./-]{0,100}uploads?[\w./-]{0,60})["'`]/i,
  /\bmkdirSync\(\s*["'`](?:\.\/)?((?:data|uploads?|storage)[\w./-]{0,60})["'`]/,
];

/** What the program writes into its own folder, and where in it: each new container begins without that. */
export function keptIn(
  tree: SourceTree,
  { files }: Sources,
  folder: string,
): { what: string; place: string | undefined } | undefined {
  for (const [patterns, what] of [
    [databases, "a database of SQLite"],
    [uploads, "uploads"],
  ] as const)
    for (const { text, path } of files)
      for (const pattern of patterns) {
        const place = pattern.exec(text)?.[1];
        if (place === undefined || place.includes(":memory:")) continue;
        const own = /jdbc:(?:h2|hsqldb|derby)/.test(text) ? "a database in a file" : what;
        return { what: `${own} (${path})`, place: place === "" || place.includes("..") ? undefined : place };
      }
  const django = files.find(({ text }) => /django\.db\.backends\.sqlite3/.test(text));
  if (django !== undefined) return { what: `a database of SQLite (${django.path})`, place: "db.sqlite3" };
  const prisma = firstOf(tree, [`${folder}prisma/schema.prisma`, `${folder}schema.prisma`]);
  const url = /provider\s*=\s*"sqlite"[^}]{0,300}?url\s*=\s*(?:"file:(?:\.\/)?([\w./-]{1,100})"|env)/.exec(
    tree.read(prisma ?? "") ?? "",
  );
  if (url !== null)
    return { what: `a database of SQLite (${prisma})`, place: url[1] === undefined ? undefined : `prisma/${url[1]}` };
  const rails = tree.read(`${folder}config/database.yml`) ?? "";
  const production = /^production:\n((?:(?:[ \t][^\n]{0,400})?\n){0,60})/m.exec(rails)?.[1] ?? "";
  if (
    /\bsqlite3?\b/.test(rails) &&
    (/storage\//.test(production) || !/adapter/.test(production)) &&
    !/(?:url|postgresql|mysql2|trilogy)/.test(production)
  )
    return {
      what: "a database of SQLite (config/database.yml)",
      place: /database:\s*([\w./-]{1,80})/.exec(production)?.[1] ?? "storage/production.sqlite3",
    };
  return undefined;
}
