import { firstOf, type SourceTree } from "../runtime.ts";
import { needsMark } from "./needs.ts";
import type { Sources } from "./sources.ts";

/** User ids of the images; 65532 where none is here. */
const users: Readonly<Record<string, string>> = {
  ...{ node: "1000", bun: "1000", python: "1000", ruby: "1000", deno: "1993", php: "33" },
};

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
  /\bMEDIA_ROOT\s{0,3}=\s{0,3}(?:str\()?(?:os\.path\.join\(\s{0,3}BASE_DIR\s{0,3},|BASE_DIR\s{0,3}\/)\s{0,3}["']([\w-]{1,60})["']/,
  /\bmkdirSync\(\s*["'`](?:\.\/)?((?:data|uploads?|storage)[\w./-]{0,60})["'`]/,
];

/** A path that a variable says, and that is in the folder without it: `os.getenv("DB_PATH", "shop.db")`. */
const toldPath =
  /["'`.]([A-Z][A-Z0-9_]{1,40})["'`]?\]?\)?[ \t]{0,3}(?:,|\|\||\?\?|\bor\b)[ \t]{0,3}["'`](?:\.\/)?((?!django\.)[\w./-]{0,100}\.(?:db|sqlite3?))["'`]/;
/** A module of the language itself that opens such files. */
const opensSqlite = /^[ \t]*(?:import|from) sqlite3\b|["'](?:node|bun):sqlite["']/m;
const writes: readonly RegExp[] = [
  /\bopen\([^()\n]{0,80}(?:\([^()\n]{0,60}\))?[^()\n]{0,40},\s{0,3}(?:mode=)?["'][wa]b?\+?["']/,
  /\b(?:writeFile|writeFileSync|appendFile|appendFileSync|createWriteStream)\(/,
  /\b(?:file_put_contents|move_uploaded_file)\(|\bos\.(?:WriteFile|Create|OpenFile)\(|\bioutil\.WriteFile\(/,
  /\bFiles\.(?:copy|write|writeString|newOutputStream|newBufferedWriter)\(|\bnew File(?:OutputStream|Writer|Stream)\(|\.transferTo\(\s{0,3}new (?:java\.io\.)?File\(/,
  /\bDeno\.(?:writeTextFile|writeFile|create)(?:Sync)?\(|\bBun\.write\(|\bFile\.(?:cp|stream)!?\([^\n]{0,80}priv\//,
  /\bFile\.(?:write|WriteAllText|WriteAllBytes)\(|\bfs::write\(|\bFile::create\(/,
];

interface Kept {
  what: string;
  place: string | undefined;
  /** A variable that says the place. */
  variable?: string | undefined;
  /** What stands before the path in that variable. */
  scheme?: string;
  /** It may not matter. */
  isUnsure?: boolean;
}

/** A volume in a folder with sources would hide those of each new version. */
export function besideSources(tree: SourceTree, folder: string, kept: Kept): Kept {
  const { place = "" } = kept;
  const at = place.slice(0, Math.max(place.lastIndexOf("/"), 0));
  const isShared = tree
    .list(folder + at)
    .some((name) => !/\.(?:db|sqlite3?)$|^\.(?:git)?keep$|^\.gitignore$/.test(name));
  return at === "" || at.startsWith("/") || !isShared ? kept : { ...kept, place: place.slice(at.length + 1) };
}

/** What the program writes into its own folder, and where in it: each new container begins without that. */
export function keptIn(tree: SourceTree, sources: Sources, folder: string): Kept | undefined {
  const { files } = sources;
  const told = files
    .flatMap(({ text, path }) => ({ path, found: toldPath.exec(text) }))
    .find(({ found }) => found !== null);
  if (told?.found != null) {
    const [, variable, place = ""] = told.found;
    return { what: `a database of SQLite (${told.path})`, place: place.includes("..") ? undefined : place, variable };
  }
  const kept = keptData(tree, sources, folder);
  if (kept !== undefined) return kept;
  const opening = files.find(({ text }) => opensSqlite.test(text));
  if (opening !== undefined) {
    const place = /["'`](?:\.\/)?([\w-][\w./-]{0,100}\.(?:db|sqlite3?))["'`]/.exec(opening.text)?.[1];
    return { what: `a database of SQLite (${opening.path})`, place };
  }
  const writing = files.find(({ text }) => writes.some((one) => one.test(text)));
  return writing === undefined ? undefined : { what: `what ${writing.path} writes`, place: undefined, isUnsure: true };
}

function keptData(tree: SourceTree, { files }: Sources, folder: string): Kept | undefined {
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
      ...(/storage\//.test(production) ? {} : { variable: "DATABASE_URL", scheme: "sqlite3:" }),
    };
  return undefined;
}

/** The program's user may write there, and a volume is named. */
export function withKept(
  made: string,
  language: string,
  { what, place, variable, scheme = "", isUnsure = false }: Kept,
): { dockerfile: string; note: string[] } {
  const begin = made.lastIndexOf("FROM ");
  // A program alone in its image has no folder of its own yet.
  const isBare = language !== "php" && !/^WORKDIR /m.test(made.slice(begin));
  const at = made.lastIndexOf("\nUSER ");
  const dockerfile = isBare && at > begin ? `${made.slice(0, at)}\nWORKDIR /srv${made.slice(at)}` : made;
  const last = dockerfile.slice(begin);
  const home =
    [...last.matchAll(/^WORKDIR (\S+)$/gm)].at(-1)?.[1] ?? (language === "php" ? "/var/www/html" : undefined);
  const user = /^USER (\S+)$/m.exec(last)?.[1] ?? (language === "php" ? "www-data" : undefined);
  const uid = users[language] ?? "65532";
  const within = place?.includes("/") === true ? place.slice(0, place.lastIndexOf("/")) : "";
  const isOwn =
    within !== "" && !within.startsWith("~") && (!within.startsWith("/") || /^\/(?:data|app|var\/lib)\b/.test(within));
  const inside = /^CMD \["sh","-c","cd ([\w./-]{1,100}) && exec /m.exec(last)?.[1];
  const root = `${home ?? "/app"}${inside === undefined ? "" : `/${inside}`}`;
  const mount = within.startsWith("/") ? within : `${root}/${within}`;
  const owner = `and volume_owner: "${uid}:${uid}"`;
  const file = place?.slice(place.lastIndexOf("/") + 1) ?? "app.db";
  const own = isOwn
    ? `write volumes: ["data:${mount}"] ${owner}`
    : `move it into a folder of its own, such as data, and write volumes: ["data:${root}/data"] ${owner}`;
  const way =
    variable === undefined
      ? own
      : `write volumes: ["data:/data"] ${owner}, and ${variable}: ${scheme}/data/${file} in env`;
  const note = [
    isUnsure
      ? `${what} is in the container, and each new version begins without it; to keep it, ${own}`
      : `${needsMark}a volume: ${what} is in the container, and each new version begins without it; to keep it, ${way}`,
  ];
  if (user === undefined || home === undefined || user.includes("nonroot")) return { dockerfile, note };
  return { dockerfile: withRights(dockerfile, { user, uid, target: isOwn ? mount : root, isOwn }), note };
}

/** The program's user has the folder that it writes into, and what the source has in it. */
function withRights(
  made: string,
  { user, uid, target, isOwn }: { user: string; uid: string; target: string; isOwn: boolean },
): string {
  const all = made.lastIndexOf("\nCOPY . .\n");
  const isThere = made.includes(`chown -R app ${target}`);
  const takes = !isOwn && !isThere && all > made.lastIndexOf("FROM ");
  const dockerfile = takes ? `${made.slice(0, all)}\nCOPY --chown=${uid}:${uid} . .${made.slice(all + 9)}` : made;
  // Without a shell in the image, nothing can be made there.
  if (/^(?:ARG RUN_BASE=)gcr\.io\/distroless/m.test(dockerfile)) return dockerfile;
  const line = `RUN mkdir -p ${target} && chown ${isOwn ? "-R " : ""}${uid}:${uid} ${target}`;
  const before = isThere || !/^[\w./-]{1,200}$/.test(target) ? -1 : dockerfile.lastIndexOf(`\nUSER ${user}`);
  return before < 0 ? dockerfile : `${dockerfile.slice(0, before)}\n${line}${dockerfile.slice(before)}`;
}
