/** A query as it is written, cut into its terms. */
export type Term =
  | { kind: "text"; text: string; negated: boolean }
  | { kind: "regex"; source: string; anyCase: boolean; negated: boolean }
  | { kind: "field"; name: string; operator: Operator; value: string; negated: boolean };

export type Operator = "=" | "!=" | ">=" | "<=" | ">" | "<";

const regex = /^\/((?:[^/\\]|\\.)+)\/(i?)(?=\s|$)/;
const quoted = /^"((?:[^"\\]|\\.)*)"/;
const field = /^(\.?[A-Za-z_@][\w.@-]*)(>=|<=|!=|=|>|<)(?:"((?:[^"\\]|\\.)*)"|(\S*))/;
const plain = /^\S+/;

/**
 * Cuts a query: words and "phrases", /regular expressions/, `field=value` with = != > >= < <=, and `-` before any of them
 * for its opposite. All have to hold.
 */
export function termsOf(query: string): Term[] {
  const terms: Term[] = [];
  let rest = query.trim();
  while (rest !== "") {
    const negated = rest.length > 1 && rest.startsWith("-") && !/^-\s/.test(rest);
    const [term, length] = oneTerm(negated ? rest.slice(1) : rest, negated);
    terms.push(term);
    rest = rest.slice(length + (negated ? 1 : 0)).trimStart();
  }
  return terms;
}

function oneTerm(rest: string, negated: boolean): [Term, number] {
  const expression = regex.exec(rest);
  if (expression !== null) {
    const [all, source = "", flag] = expression;
    return [{ kind: "regex", source, anyCase: flag === "i", negated }, all.length];
  }
  const phrase = quoted.exec(rest);
  if (phrase !== null) return [{ kind: "text", text: unescaped(phrase[1] ?? ""), negated }, phrase[0].length];
  const pair = field.exec(rest);
  if (pair !== null) {
    const [all, name = "", operator, quotedValue, value] = pair;
    const text = quotedValue === undefined ? (value ?? "") : unescaped(quotedValue);
    return [{ kind: "field", name, operator: operator as Operator, value: text, negated }, all.length];
  }
  const word = plain.exec(rest)?.[0] ?? rest;
  return [{ kind: "text", text: word, negated }, word.length];
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, "$1");
}
