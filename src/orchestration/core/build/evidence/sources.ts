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
  php: /\.php$/,
  go: /(?<!_test)\.go$/,
  rust: /\.rs$/,
  java: /\.(?:java|kt|properties|conf)$|(?:^|\/)application[\w-]{0,40}\.ya?ml$/,
  dotnet: /\.[cf]s$|(?:^|\/)appsettings(?:\.Production)?\.json$/,
  elixir: /\.exs?$/,
};
/** Folders with nothing that runs on the server. */
const skipped =
  /^(?:\.|_|node_modules|vendor|venv|env\/|(?:unit|integration)?-?tests?\/|spec\/|e2e\/|cypress\/|mocks?\/|examples?\/|samples?\/|docs?\/|dist\/|out\/|target\/|obj\/|coverage\/|fixtures\/|migrations\/|client\/|frontend\/|public\/|static\/|assets\/(?!.{0,9}go)|scripts\/|tools\/|benchmarks?\/)/i;
const tested =
  /^(?:mix\.exs|setup\.py)$|[._](?:test|spec|stories|config)\.[cm]?[jt]sx?$|(?:^|\/)(?:test_[^/]{0,100}|[^/]{0,100}_(?:test|spec)|conftest)\.(?:py|rb|exs)$|^application-(?:dev|test|local)/;
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
      else if (ending?.test(at + name) === true && !tested.test(name) && found.files.length < limits.files) {
        const text = (tree.read(at + name) ?? "").slice(0, limits.text);
        size += text.length;
        found.files.push({ path: folder + at + name, text: withoutComments(text) });
      }
    }
  }
  return found;
}

function withoutComments(text: string): string {
  return text.replaceAll(/^[ \t]*(?:\/\/|#(?![![])|\*|\/\*|;;).*$/gm, "");
}
