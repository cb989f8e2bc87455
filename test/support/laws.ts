import * as house from "./house.ts";
import { importArrows, layerOfRoom, roomArrows, roomCircles } from "./rooms.ts";
import { resolveImport, type Source } from "./source.ts";

/** Each law takes all files and returns its violations, one text each; no violations, no text. */
type Law = (files: Source[]) => string[];

/** One file at a time. */
const each =
  (check: (file: Source) => string[]): Law =>
  (files) =>
    files.flatMap((file) => check(file).map((fault) => `${file.path}: ${fault}`));

const inSrc = (path: string) => path.startsWith("src/");

/** `service/layer`, or the folder of src/ that is one layer as a whole; empty for files of src/ itself. */
function layerOf(path: string): string {
  const [, service = "", layer = ""] = path.split("/").slice(0, -1);
  return service === "" || house.wholeFolders.includes(service) ? service : `${service}/${layer}`;
}

const isPure = (path: string) =>
  ["base/pure", "base/words", "base/wire"].includes(layerOf(path)) || /(?:^access|\/(?:api|core))$/.test(layerOf(path));

const isUnder = (path: string, homes: readonly string[]) => homes.some((home) => path.startsWith(home));

const ours = (file: Source) =>
  file.imports.flatMap((specifier) => resolveImport(file.path, specifier) ?? []).map((path) => ({ path }));

function floorFault(file: Source, target: string): string | undefined {
  if (house.leaves.includes(target)) return undefined;
  if (file.path === "src/version.ts") return target === "package.json" ? undefined : `imports ${target}`;
  if (!inSrc(file.path)) return pluginFault(file.path, target);
  if (target === bundled && house.startsBundled.includes(file.path)) return undefined;
  if (!inSrc(target)) return `imports ${target}, which lies outside src/`;
  const [from, to] = [layerOf(file.path), layerOf(target)];
  const allowed = house.mayImport[from];
  if (allowed === undefined)
    return `folder src/${from}/ is an unknown layer; add it to test/support/house.ts and docs/architecture.md`;
  if (allowed === "*" || from === to || allowed.includes(to)) return undefined;
  return `imports ${target}; src/${from}/ may import ${allowed.join(", ") || "nothing of ours"}`;
}

/** The file that names the plugins of the executable. */
const bundled = "plugins/bundled.ts";

/** A bundled plugin is made as other people make theirs: from `orchestration/api`, the kit, and its own folder. */
function pluginFault(from: string, target: string): string | undefined {
  const own = /^plugins\/[^/]+\//.exec(from)?.[0];
  if (own === undefined && target.startsWith("plugins/") && from === bundled) return undefined;
  const homes = [
    "src/base/wire/",
    "src/base/pure/",
    "src/orchestration/api/",
    "src/backups/api/",
    "plugins/kit.ts",
    "plugins/kit/",
    ...(own === undefined ? [] : [own]),
  ];
  return isUnder(target, homes) ? undefined : `imports ${target}; a plugin may import ${homes.join(", ")}`;
}

/** Imports point down the floors, siblings are blind to each other; `import type` counts. */
export const floors = each((file) => ours(file).flatMap(({ path }) => floorFault(file, path) ?? []));

export const extensions = each((file) =>
  file.imports
    .filter((specifier) => specifier.startsWith(".") && !/\.[a-z]+$/.test(specifier))
    .map((specifier) => `imports "${specifier}" without its extension`),
);

function packageFault(file: Source, specifier: string): string | undefined {
  if (specifier.startsWith(".")) return undefined;
  if (specifier.startsWith("node:")) return builtinFault(file, specifier);
  if (specifier === "bun") return bunFault(file);
  const name = specifier.startsWith("@") ? specifier.split("/", 2).join("/") : (specifier.split("/")[0] ?? "");
  const homes = house.packageHomes[name];
  if (homes === undefined)
    return `imports package "${name}", which has no home; see packageHomes in test/support/house.ts`;
  return isUnder(file.path, homes) ? undefined : `imports package "${name}", whose home is ${homes.join(", ")}`;
}

/** Types are free; what does something is written `Bun.spawn`, so that the law about calls sees it. */
function bunFault(file: Source): string | undefined {
  const values = /^import(?!\s+type\b)[^;]*\bfrom\s*["']bun["']/m.test(file.text);
  return values ? 'imports values from "bun"; write Bun.name' : undefined;
}

function builtinFault(file: Source, specifier: string): string | undefined {
  const pure = isPure(file.path);
  const homes = pure ? (house.pureBuiltins[specifier] ?? []) : house.builtinHomes[specifier];
  if (homes === undefined || isUnder(file.path, homes)) return undefined;
  return `imports "${specifier}", whose home is ${homes.join(", ") || "nowhere"}`;
}

/** Each outside package and each platform module has its one home. */
export const packages = each((file) => file.imports.flatMap((specifier) => packageFault(file, specifier) ?? []));

/** Child processes, listening sockets, files and the environment have homes too. */
export const calls = each((file) =>
  inSrc(file.path)
    ? house.callHomes
        .filter(({ call, homes }) => call.test(file.code) && !isUnder(file.path, homes))
        .map(({ name, homes }) => `uses ${name}, whose home is ${homes.join(", ")}`)
    : [],
);

/** What bundled plugins make of a block, and the pieces of the kit that they make it with. */
const expands = /^plugins\/(?:[^/]+\/(?:expand|block)|kit\/(?:fields|scripts|server-block|statefulset))\.ts$/;

/** core/ is data in, data out, and so are those. */
export const purity = each((file) => {
  const isCore = inSrc(file.path) && /(?:^access|\/core|\/pure)$/.test(layerOf(file.path));
  if (!isCore && !expands.test(file.path)) return [];
  const who = isCore ? "core" : "an expand";
  return house.impure.filter(({ use }) => use.test(file.code)).map(({ name }) => `${who} may not use ${name}`);
});

const engineFolder = "src/orchestration/engine/";

/** Whoever needs containers goes through the seam; how they are run is the engine's own affair. */
export const seam = each((file) => {
  if (file.path.startsWith(engineFolder)) return [];
  const open = [...house.engineSeam, ...(file.path.startsWith(house.makesEngine.by) ? house.makesEngine.from : [])];
  return ours(file)
    .filter(({ path }) => path.startsWith(engineFolder) && !open.includes(path))
    .map(({ path }) => `imports ${path}, which is private to the engine; use engine/engine.ts`);
});

/** The engine seam is types only. */
export const typesOnly = each((file) => {
  if (!house.engineSeam.includes(file.path)) return [];
  return /^export\s+(?:async\s+)?(?:function|const|let|class|enum)\b/m.test(file.code)
    ? ["holds code; it is types only"]
    : [];
});

export const cycles: Law = (files) => {
  const graph = new Map(files.map((file) => [file.path, ours(file).map(({ path }) => path)]));
  const done = new Set<string>();
  const faults: string[] = [];
  const visit = (path: string, trail: string[]) => {
    if (trail.includes(path)) {
      faults.push([...trail.slice(trail.indexOf(path)), path].join(" → "));
      return;
    }
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return faults;
};

const reexport = /\bexport\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\s*["'][^"']*["']\s*;?/g;
const importStatement = /\bimport\b[^;"'()]*(?:\bfrom\s*)?["'][^"']*["'](?:\s*with\s*\{[^}]*\})?\s*;?/g;

/** A name is imported from the file that defines it. */
export const barrels = each((file) => {
  if (/\bexport\s+(?:type\s+)?\*/.test(file.code)) return ["export * hides where names come from"];
  const rest = file.code.replace(reexport, "").replace(importStatement, "");
  const only = rest.trim() === "" || rest.replace(/\bexport\s+(?:type\s+)?\{[^}]*\}\s*;?/g, "").trim() === "";
  return only && /\bexport\b/.test(file.code) ? ["holds only re-exports"] : [];
});

export const defaultExports = each((file) =>
  /\bexport\s+default\b|\bas\s+default\b/.test(file.code) ? ["has a default export"] : [],
);

export const length = each((file) => {
  const lines = file.text.trimEnd().split("\n").length;
  return lines > house.linesMax ? [`has ${lines} lines; the most is ${house.linesMax}`] : [];
});

/** The contract's own client is known at the doors, and nowhere else. */
export const contractClient: Law = (files) => {
  const { room, doors, linesMax } = house.contractClient;
  const lines = files
    .filter(({ path }) => path.startsWith(room))
    .reduce((sum, { text }) => sum + text.trimEnd().split("\n").length, 0);
  const guests = files.filter(({ path }) => !path.startsWith(room) && !doors.includes(path));
  return [
    ...(lines > linesMax ? [`${room} has ${lines} lines; the most is ${linesMax}`] : []),
    ...guests.flatMap((file) =>
      ours(file)
        .filter(({ path }) => path.startsWith(room))
        .map(({ path }) => `${file.path} imports ${path}; only ${doors.join(" and ")} may`),
    ),
  ];
};

/** Blanks, something that may be missing, blanks: the time for a long run of blanks grows with its square. */
const twiceBlank = /\\s[*+](?:\\.|[^\s\\()[\]|]|\((?:\?:)?(?:[^()\\]|\\.)*\)|\[(?:[^\]\\]|\\.)*\])[?*]\\s[*+]/g;

export const blanksInOneWay = each((file) =>
  Array.from(file.text.matchAll(twiceBlank), ([found]) => `"${found}" reads a run of blanks in many ways`),
);

/** The type, not a property or a method that happens to be called so. */
export const noAny = each((file) => (/(?<![.\w$])any\b(?!\s*[:(?=])/.test(file.code) ? ['uses the type "any"'] : []));

export const noIgnores = each((file) =>
  /@ts-(?:ignore|expect-error|nocheck)/.test(file.text) ? ["silences the type checker"] : [],
);

function oddLines(text: string, words = house.oddWords): string[] {
  return text.split("\n").flatMap((line, index) => {
    const odd = words.filter(({ word }) => word.test(line));
    return odd.map(({ word, instead }) => `line ${index + 1} has "${word.exec(line)?.[0].trim()}"; write: ${instead}`);
  });
}

/** Texts of the product are read by tired people whose first language is another one. */
export const plainEnglish = each((file) => (isUnder(file.path, house.quotesOddWords) ? [] : oddLines(file.literals)));

/** So are comments. What stands in backticks is a name, not a word. */
export const plainComments = each((file) =>
  isUnder(file.path, house.quotesOddWords)
    ? []
    : oddLines(file.comments.replaceAll(/`[^`\n]*`/g, ""), [...house.oddWords, ...house.oddBeginnings]),
);

const serverText = `\\b(?:${house.serverTexts.join("|")})\\b`;
const textReads = [
  new RegExp(`\\.(?:test|exec)\\(\\s*(?:\\w+\\??\\.)*${serverText}\\s*\\)`),
  new RegExp(
    `${serverText}\\??\\s*\\.\\s*(?:match|matchAll|search|startsWith|endsWith|includes|indexOf|split|replace|replaceAll)\\(`,
  ),
];

/** The client decides by the data of an answer: its texts are for people and may change. */
export const proseIsForPeople = each((file) => {
  if (!file.path.startsWith("src/client/") || file.path in house.ownTexts) return [];
  return textReads.some((read) => read.test(file.code))
    ? ["reads a text of the server; decide by code, reason, fields or problems"]
    : [];
});

/** A spec is decoded once, in one room; all others have the decoded form. */
export const decodedOnce = each((file) => {
  if (isUnder(file.path, [house.decoder.room, ...Object.keys(house.decoder.others)])) return [];
  return ours(file)
    .filter(({ path }) => path === house.decoder.reader)
    .map(
      ({ path }) => `imports ${path}; use decodeSpec, containerOf, podOf or jobOf of ${house.decoder.room}decode.ts`,
    );
});

/** No two rooms of a layer reach each other; where an order is written down, a room imports only rooms before it. */
export const rooms: Law = (files) => {
  const arrows = importArrows(files.filter(({ path }) => inSrc(path)));
  const circles = roomCircles(arrows).map((circle) => `rooms that import each other: ${circle.join(", ")}`);
  return [...circles, ...Object.entries(house.roomOrder).flatMap(([layer, order]) => disorder(layer, order, arrows))];
};

function disorder(layer: string, order: readonly string[], arrows: ReturnType<typeof importArrows>): string[] {
  return [...roomArrows(arrows)].flatMap(([from, targets]) => {
    if (layerOfRoom(from) !== layer) return [];
    const place = order.indexOf(from.slice(layer.length + 1));
    if (place === -1) return [`${from} is an unknown room; add it to roomOrder in test/support/house.ts`];
    return [...targets]
      .filter(([to]) => order.indexOf(to.slice(layer.length + 1)) > place)
      .flatMap(([to, places]) => places.map((text) => `${text}; ${to} stands after ${from} in roomOrder`));
  });
}

export const laws: Record<string, Law> = {
  "imports point down the layers, and services and siblings are blind to each other": floors,
  "relative imports carry their extension": extensions,
  "each outside package has its one home": packages,
  "each platform call has its home": calls,
  "the heart is pure": purity,
  "the engine is used through its seam": seam,
  "the engine seam is types only": typesOnly,
  "no import cycles": cycles,
  "rooms of a layer import each other one way": rooms,
  "no barrels": barrels,
  "no default exports": defaultExports,
  "files stay short": length,
  "the contract's own client is known at the doors alone": contractClient,
  'no "any"': noAny,
  "no silenced checks": noIgnores,
  "an expression reads blanks in one way": blanksInOneWay,
  "texts are plain English": plainEnglish,
  "comments are plain English": plainComments,
  "the client reads no text of the server": proseIsForPeople,
  "specs are decoded once": decodedOnce,
};
