import type { PluginChanges } from "../../orchestration/api/plugins.ts";
import { printable, type Style } from "../basics/style.ts";
import { grantText, userText } from "./plugin-text.ts";
import { listText } from "../basics/table-text.ts";

/** What `plugins accept` asks about: files with their differences, and the grant of a changed plugin.yml. */
export function changesText(changes: PluginChanges, style: Style): string {
  const { name, version, digest, files, left } = changes;
  const title = `${style.bold(printable(name))}${version === "" ? "" : `  ${printable(version)}`}`;
  const rest = left === 0 ? [] : [`  and ${left} more changed files`];
  const facts = [["sha256", printable(digest)], ...grantRows(changes)];
  return [title, ...files.flatMap((file) => fileText(file, style)), ...rest, listText(facts, { indent: "  " })].join(
    "\n",
  );
}

function fileText({ path, change, diff, left, size, sha256 }: PluginChanges["files"][number], style: Style): string[] {
  const marks = size === undefined ? "" : ` (${size} bytes, sha256 ${printable(sha256 ?? "")})`;
  const head = `  ${change} ${style.bold(printable(path))}`;
  if (diff === undefined) return [`${head}${style.dim(`${marks}: no text to compare`)}`];
  const rest = left === undefined ? [] : [style.dim(`    and ${left} more lines`)];
  return [head, ...diff.map((line) => `    ${lineText(line, style)}`), ...rest];
}

function lineText(line: string, style: Style): string {
  // A tab moves the text, and does no other harm.
  const shown = printable(line.replaceAll("\t", "    "));
  if (line.startsWith("+")) return style.green(shown);
  if (line.startsWith("-")) return style.red(shown);
  return line.startsWith("@@") ? style.dim(shown) : shown;
}

function grantRows({ grant, full_grant: full = false, more = [] }: PluginChanges): string[][] {
  if (grant === undefined) return [];
  return [
    ["may", printable(grantText({ permissions: grant, full_grant: full }))],
    ...(more.length === 0 ? [] : [["new", printable(more.join(", "))]]),
    ["runs as", userText(grant)],
  ];
}
