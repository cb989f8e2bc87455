import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

/** A Markdown page of the project. */
export interface Page {
  /** Path from the checkout. */
  path: string;
  text: string;
}

export interface CodeBlock {
  /** What follows the opening fence: "yaml fields". */
  info: string;
  body: string;
  line: number;
}

const patterns = ["*.md", "docs/**/*.md", "examples/*/README.md", "plugins/*/README.md"];

/** All pages that a reader can open. */
export function readPages(checkout: string): Page[] {
  return patterns
    .flatMap((pattern) => [...new Glob(pattern).scanSync(checkout)])
    .sort()
    .map((path) => ({ path, text: readFileSync(join(checkout, path), "utf8") }));
}

export function codeBlocks(text: string): CodeBlock[] {
  return [...text.matchAll(/^( *)```([^\n]*)\n(.*?)^\1```$/gms)].map((match) => ({
    info: match[2] ?? "",
    body: match[3] ?? "",
    line: text.slice(0, match.index).split("\n").length,
  }));
}

/** The text without its code blocks; the line numbers stay. */
function prose(text: string): string {
  return text.replaceAll(/^( *)```[^\n]*\n.*?^\1```$/gms, (block) => block.replaceAll(/[^\n]/g, ""));
}

/** Paragraphs, list items and table cells as a reader sees them: lines joined, without the targets of links. */
export function paragraphs(text: string): string[] {
  const found: string[] = [""];
  for (const line of prose(text).split("\n")) {
    if (line.startsWith("|")) found.push(...line.split(/(?<!\\)\|/).map((cell) => cell.trim()), "");
    else if (/^\s*(?:[-*]|\d+\.)\s|^#/.test(line)) found.push(line.trim());
    else if (line.trim() === "") found.push("");
    else found.push(`${found.pop() ?? ""} ${line.trim()}`);
  }
  return found.map((one) => one.replaceAll(/\]\([^)]*\)/g, "]").trim()).filter((one) => one !== "");
}

/** Targets of links to places in the project: "deploy.md#images". */
export function links(text: string): string[] {
  const plain = prose(text).replaceAll(/`[^`\n]*`/g, "");
  return [...plain.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, target]) => target ?? "");
}

/** Anchors of the headings, as code hosts derive them. */
export function anchors(text: string): string[] {
  return [...prose(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Code in running text and tables: `berth get`. */
export function inlineCode(text: string): string[] {
  return [...prose(text).matchAll(/`([^`\n]+)`/g)].map(([, code]) => (code ?? "").replaceAll("\\|", "|"));
}

/** The simple commands of a piece of shell, each as its words, without comments, redirections and assignments. */
export function shellCommands(script: string): string[][] {
  const lines = script.replaceAll(/\\\n\s*/g, " ").split("\n");
  return lines.flatMap(commandsOf).filter((words) => words.length > 0);
}

function commandsOf(line: string): string[][] {
  const commands: string[][] = [[]];
  for (const [token] of line.matchAll(
    /(?:"[^"]*"|'[^']*'|\$\([^)]*\)|[^\s"';|&<>])+|\|\||&&|[;|&]|>>?\s*\S+|<\s*\S+/g,
  )) {
    if (token.startsWith("#")) break;
    if (/^[|;&]/.test(token)) commands.push([]);
    else if (!/^[<>]/.test(token)) commands.at(-1)?.push(token.replaceAll(/["']/g, ""));
  }
  return commands.map((words) => words.slice(words.findIndex((word) => !/^(?:sudo|\w+=.*)$/.test(word))));
}
