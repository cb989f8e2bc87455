/** One source file as the laws see it. Paths are relative to the checkout, with forward slashes. */
export interface Source {
  path: string;
  text: string;
  /** `text` with comments and the contents of string and regular-expression literals blanked; same length and lines. */
  code: string;
  /** Only the contents of string and regular-expression literals, the rest blanked; same length and lines. */
  literals: string;
  /** Only the comments, the rest blanked; same length and lines. */
  comments: string;
  /** Everything imported or re-exported, types included, as written. */
  imports: string[];
}

export function source(path: string, text: string): Source {
  const { code, uncommented, literals, comments } = blank(text);
  return { path, text, code, literals, comments, imports: importsOf(code, uncommented) };
}

/** Resolves a relative specifier against the importing file; undefined for a package. */
export function resolveImport(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  const parts = from.split("/").slice(0, -1);
  for (const step of specifier.split("/")) {
    if (step === "..") parts.pop();
    else if (step !== ".") parts.push(step);
  }
  return parts.join("/");
}

const importForms = [
  /\b(?:import|export)\b[^;"'`()]*?\bfrom\s*(["'])/g,
  /\bimport\s*(["'])/g,
  /\b(?:import|require)\s*\(\s*(["'`])/g,
];

function importsOf(code: string, uncommented: string): string[] {
  const found: string[] = [];
  for (const form of importForms) {
    for (const match of code.matchAll(form)) {
      const start = match.index + match[0].length;
      found.push(uncommented.slice(start, uncommented.indexOf(match[1] ?? "", start)));
    }
  }
  return found;
}

/** A scanner for just enough of TypeScript: comments, strings, templates with nested code, regular expressions. */
function blank(text: string): Record<"code" | "uncommented" | "literals" | "comments", string> {
  const code = [...text.split("")];
  const uncommented = [...text.split("")];
  const literals = text.replaceAll(/[^\n]/g, " ").split("");
  const comments = [...literals];
  const hide = (from: number, to: number, comment: boolean) => {
    for (let at = from; at < to; at++) {
      if (text[at] === "\n") continue;
      code[at] = " ";
      if (comment) uncommented[at] = " ";
      (comment ? comments : literals)[at] = text.charAt(at);
    }
  };
  /** Depth of braces at which each open template's `${` ends. */
  const templates: number[] = [];
  let depth = 0;
  let at = 0;
  while (at < text.length) {
    const literal = literalAt(text, at, templates.at(-1) === depth);
    if (literal !== undefined) {
      hide(at + literal.keepStart, literal.end - literal.keepEnd, literal.comment);
      if (literal.closesTemplate) {
        templates.pop();
        depth--;
      }
      if (literal.opensTemplate) templates.push(++depth);
      at = literal.end;
      continue;
    }
    if (text[at] === "{") depth++;
    if (text[at] === "}") depth--;
    at++;
  }
  return {
    code: code.join(""),
    uncommented: uncommented.join(""),
    literals: literals.join(""),
    comments: comments.join(""),
  };
}

interface Literal {
  end: number;
  comment: boolean;
  /** Delimiters that stay visible. */
  keepStart: number;
  keepEnd: number;
  opensTemplate: boolean;
  closesTemplate: boolean;
}

function literalAt(text: string, at: number, inTemplate: boolean): Literal | undefined {
  const plain = { comment: false, keepStart: 1, keepEnd: 1, opensTemplate: false, closesTemplate: false };
  const two = text.slice(at, at + 2);
  const char = text[at];
  if (two === "//") return { ...plain, comment: true, keepStart: 0, keepEnd: 0, end: find(text, "\n", at) };
  if (two === "/*") return { ...plain, comment: true, keepStart: 0, keepEnd: 0, end: find(text, "*/", at + 2) + 2 };
  if (char === '"' || char === "'") return { ...plain, end: closing(text, at + 1, char) + 1 };
  if (char === "/" && startsRegex(text, at)) return { ...plain, end: regexEnd(text, at + 1) + 1 };
  if (char === "`" || (char === "}" && inTemplate)) {
    const end = closing(text, at + 1, "`", true);
    const opens = text[end] === "$";
    return {
      ...plain,
      end: end + (opens ? 2 : 1),
      keepEnd: opens ? 2 : 1,
      opensTemplate: opens,
      closesTemplate: char === "}",
    };
  }
  return undefined;
}

function find(text: string, what: string, from: number): number {
  const at = text.indexOf(what, from);
  return at === -1 ? text.length : at;
}

/** Index of the closing delimiter, or of the `$` of a template's `${`. */
function closing(text: string, from: number, delimiter: string, template = false): number {
  let at = from;
  while (at < text.length && text[at] !== delimiter) {
    if (template && text.startsWith("${", at)) return at;
    at += text[at] === "\\" ? 2 : 1;
  }
  return at;
}

/** A slash divides after a value; it starts a regular expression elsewhere. */
function startsRegex(text: string, at: number): boolean {
  const before = text.slice(0, at).trimEnd();
  return /(?:[=(,:;!&|?{}[\n>]|\b(?:return|typeof|case|in|of))$/.test(before) || before === "";
}

function regexEnd(text: string, from: number): number {
  let inClass = false;
  let at = from;
  while (at < text.length && text[at] !== "\n" && (inClass || text[at] !== "/")) {
    if (text[at] === "[") inClass = true;
    if (text[at] === "]") inClass = false;
    at += text[at] === "\\" ? 2 : 1;
  }
  return at;
}
