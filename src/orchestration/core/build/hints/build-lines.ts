import type { SourceTree } from "../runtime.ts";
import { readHints } from "./hints.ts";

/** Length of a build command or script that is looked at: a longer one is nothing that a person wrote. */
const textMax = 16 * 1024;
const partMax = 500;
const shownMax = 3;

/** Lines of a shell that make nothing. */
const idle =
  /^(?:set|echo|printf|export|cd|pwd|ls|chmod|if|then|fi|else|for|do|done|while|exit|true|sleep|source|date|which|corepack|\w+=\S*$|\[|\}|\{|#|(?:python3?|node|npm|pip3?|ruby|go|java) -{1,2}v\w*$)(?:\b|\s|$)/i;
/** What the image does in its own way. */
const done: readonly RegExp[] = [
  /^(?:npm|pnpm|bun|yarn)(?: --?[\w=.-]{1,60}){0,5}(?: (?:i|ci|install)\b.*)?$/,
  /^(?:python3? -m )?pip3? (?:install|show)\b.*(?:-r\b|--requirement\b|--upgrade\b|-U\b)/,
  /^(?:poetry|pipenv|uv) (?:install|sync|config)\b/,
  /^bundle (?:install|config)\b|^gem install bundler\b/,
  /\bassets:(?:precompile|clean)\b/,
  /^(?:php )?composer(?:\.phar)? (?:install|dump-autoload)\b/,
  /\bartisan (?:config|route|view|event|optimize|package|storage|key)\b/,
  /^(?:sh )?(?:\.\/)?(?:mvnw?|gradlew?)\b/,
  /^(?:go (?:build|mod|get)|cargo build|dotnet (?:publish|build|restore)|mix (?:deps|compile|release|assets|local|phx\.digest))\b/,
  /^mkdir\b/,
];
const migrates =
  /\bmigrat(?:e|ion|ions)\b|\bdb:(?:migrate|prepare|setup|push)|\bupgrade head\b|\bdb (?:upgrade|push)\b|\bmigrate:/;

/**
 * What another platform runs to build and the image does not, in words for people. A script (`./build.sh`) counts as the
 * lines that it holds.
 */
export function ignoredBuild(tree: SourceTree, dockerfile: string, notes: readonly string[]): string[] {
  const { build, processes } = readHints(tree);
  if (build === undefined) return [];
  const parts = partsOf(build.value).flatMap((part) => expanded(tree, part));
  const left = [...new Set(parts.filter((part) => !isDone(part, dockerfile)))];
  const saysMigration =
    processes.some(({ type }) => type === "release") || notes.some((note) => note.startsWith("no migration runs"));
  const migrations = left.filter((part) => migrates.test(part));
  const others = left.filter((part) => !migrates.test(part));
  const command = migrations.map((part) => part.replace(/^npx /, "npx ")).join(" && ");
  return [
    ...(migrations.length === 0 || saysMigration
      ? []
      : [
          `${build.from} builds with "${command}", which does not run here; to run it before each version, write release: { command: ["sh", "-c", ${JSON.stringify(command)}] }`,
        ]),
    ...(others.length === 0
      ? []
      : [
          `${build.from} builds with ${shown(others)}, which the image does not run; ${
            tree.has("package.json")
              ? 'to run it, add it to the script "build" of package.json'
              : "to run it, write a Dockerfile, beginning with berth build --print"
          }`,
        ]),
  ];
}

function shown(parts: string[]): string {
  const texts = parts.slice(0, shownMax).map((part) => `"${part.length > 80 ? `${part.slice(0, 77)}...` : part}"`);
  return `${texts.join(", ")}${parts.length > shownMax ? ` and ${parts.length - shownMax} more lines` : ""}`;
}

/** The commands of a line or script. */
export function partsOf(text: string): string[] {
  return text
    .slice(0, textMax)
    .split(/&&|\|\||;|\n/)
    .map((part) => part.trim().slice(0, partMax))
    .filter((part) => part !== "");
}

/** The lines of a script that is in the folder; else the line itself. */
function expanded(tree: SourceTree, part: string): string[] {
  const file = /^(?:(?:ba|z|da)?sh |source |\. )?(?:\.\/)?([\w][\w./-]{0,200})$/.exec(part)?.[1];
  const isScript = file !== undefined && (file.endsWith(".sh") || part.startsWith("./") || /^(?:ba|da)?sh /.test(part));
  const text = isScript && !file.includes("..") ? tree.read(file) : undefined;
  if (text === undefined) return [part];
  return partsOf(text.replaceAll(/\\\r?\n/g, " ").replaceAll(/^[ \t]*#.*$/gm, "")).filter(
    (line) => !line.startsWith("#"),
  );
}

/** Whether the image does the same, or the line makes nothing. */
export function isDone(part: string, dockerfile: string): boolean {
  if (idle.test(part) || done.some((one) => one.test(part))) return true;
  const script = /^(?:npm|pnpm|yarn|bun)(?: --?[\w=-]{1,60}){0,5}(?: run)? ([\w:.-]+)$/.exec(part)?.[1];
  if (script !== undefined) return new RegExp(` ${script.replaceAll(".", "[.]")}(?:\\s|$)`, "m").test(dockerfile);
  if (/\bcollectstatic\b/.test(part)) return dockerfile.includes("collectstatic");
  const named = /^(?:python3? -m )?pip3? install ([\w. -]+)$/.exec(part)?.[1];
  if (named !== undefined)
    return named
      .trim()
      .split(/\s+/)
      .every((name) => dockerfile.includes(name));
  return dockerfile.includes(part);
}
