import { keptBare, keptReference } from "./kept.ts";

/** Variables of the operator's shell. */
export type Variables = Readonly<Record<string, string | undefined>>;

interface Interpolated {
  text: string;
  /** The whole input was one `${…}`. */
  whole: boolean;
  /** What could not be replaced: the part as written, and why. */
  problems: { part: string; message: string }[];
}

const token = /\$\$|\$\{([^}]*)(\}?)/g;
const variable = /^([A-Za-z_]\w*)(?::-(.*))?$/s;

/** References that the server resolves. */
const serverSide = /^(?:asset|ref)\./;

/**
 * Replaces `${NAME}` and `${NAME:-default}` in the value of one scalar; `$$` is a dollar sign. As in a shell, the
 * default also stands in for an empty value. `${asset.…}` and `${ref.…}` are left for the server.
 * With "kept" as variables everything stays, as marks.
 */
export function interpolate(text: string, variables: Variables | "kept"): Interpolated {
  const problems: Interpolated["problems"] = [];
  const replaced = text.replace(token, (part, inner: string | undefined, close: string | undefined) => {
    if (inner === undefined) return "$";
    const outcome = close === "" ? unclosed : resolveReference(inner, variables);
    if (outcome.problem !== undefined) problems.push({ part, message: outcome.problem });
    return outcome.text ?? part;
  });
  return { text: replaced, whole: /^\$\{[^}]*\}$/.test(text), problems };
}

interface Resolved {
  text?: string;
  problem?: string;
}

const unclosed: Resolved = { problem: `"\${" is not closed: add "}", or write "$\${" for the characters themselves` };

/** What stands for `${inner}`: a text, a problem, or neither when the server resolves it. */
export function resolveReference(inner: string, variables: Variables | "kept"): Resolved {
  if (serverSide.test(inner)) return variables === "kept" ? { text: keptReference(inner) } : {};
  const [, name, fallback] = variable.exec(inner) ?? [];
  if (name === undefined) {
    const advice = `write \${NAME} or \${NAME:-default}, or $\${…} for the characters themselves`;
    return { problem: `"\${${inner}}" is not a variable: ${advice}` };
  }
  if (variables === "kept") return { text: keptReference(inner) };
  const value = variables[name];
  if (fallback !== undefined) return { text: value === undefined || value === "" ? fallback : value };
  if (value !== undefined) return { text: value };
  return { problem: `variable "${name}" is not set: export it, or write \${${name}:-default}` };
}

/** So that `replicas: ${COUNT}` is a number; `0.10` stays text because the number would print differently. */
export function plainValue(text: string): string | number | boolean {
  const kept = keptBare(text);
  if (kept !== text) return kept;
  if (text === "true" || text === "false") return text === "true";
  return text !== "" && String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : text;
}
