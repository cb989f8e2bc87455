import { own } from "../../../base/pure/fields.ts";
import { keptReference } from "../kept.ts";
import type { Variables } from "../interpolate.ts";
import type { Lose } from "./lose.ts";

/** What is known of the variables of a Compose file when it is imported. */
export interface Known {
  /** Values of `.env` and `--env-file`. They become the defaults of the variables that stay. */
  values: Readonly<Record<string, string>>;
  /** Variables of the operator's shell: they count where a form has no counterpart and is resolved at the import. */
  shell: Variables;
  /** There is such a file, and so a variable without a value is empty on purpose. */
  complete: boolean;
}

const form = /^([A-Za-z_]\w*)(?:(:?[-?+])([\s\S]*))?$/;

interface Reading {
  known: Known;
  path: string;
  lose: Lose;
}

/** A text of Compose with its variables as marks (`kept.ts`). `$NAME` is a variable there, and `$$` a dollar sign. */
export function composeText(text: string, reading: Reading): string {
  let result = "";
  for (let at = 0; at < text.length;) {
    const dollar = text.indexOf("$", at);
    if (dollar === -1) return result + text.slice(at);
    result += text.slice(at, dollar);
    const rest = text.slice(dollar + 1);
    const name = /^[A-Za-z_]\w*/.exec(rest)?.[0];
    if (rest.startsWith("{")) {
      const length = braced(rest);
      result += reference(rest.slice(1, length - 1), reading);
      at = dollar + 1 + length;
    } else if (name === undefined) {
      result += "$";
      at = dollar + (rest.startsWith("$") ? 2 : 1);
    } else {
      result += reference(name, reading);
      at = dollar + 1 + name.length;
    }
  }
  return result;
}

/** Length of the text between braces, braces inside it counted. */
function braced(text: string): number {
  let open = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "{") open += 1;
    if (text[at] === "}") open -= 1;
    if (open === 0) return at + 1;
  }
  return text.length;
}

function reference(inner: string, reading: Reading): string {
  const [, name, operator = "", word = ""] = form.exec(inner) ?? [];
  if (name === undefined) {
    reading.lose(reading.path, `"\${${inner}}" is not a variable: left out`);
    return "";
  }
  const { values, shell, complete } = reading.known;
  const value = own(values, name);
  if (operator.endsWith("+")) {
    if (isSet(value ?? shell[name], operator)) return composeText(word, reading);
    const message = `"${name}" is not set, so what depends on it is left out: where you need it, set it and import again`;
    if (word !== "" && !reading.known.complete) reading.lose(reading.path, message, "note");
    return "";
  }
  if (value !== undefined && isSet(value, operator)) return withDefault(name, value, shell);
  if (operator.endsWith("-")) return withDefault(name, composeText(word, reading), shell);
  if (!complete || operator !== "") return keptReference(name);
  const message = `"${name}" has no value in the env file: it is empty, unless the shell sets it at berth apply`;
  if (shell[name] === undefined) reading.lose(reading.path, message, "note");
  return keptReference(`${name}:-`);
}

/** A variable that is handed on under its own name; undefined where nothing sets it, as then it is not there at all. */
export function handedOn(name: string, { values, shell, complete }: Known): string | undefined {
  const value = own(values, name);
  if (value !== undefined) return withDefault(name, value, shell);
  return complete && shell[name] === undefined ? undefined : keptReference(`${name}:-`);
}

function isSet(value: string | undefined, operator: string): boolean {
  return value !== undefined && (value !== "" || !operator.startsWith(":"));
}

/**
 * A variable with the value that it has where the shell sets none. A default has no braces, no other variable in it and one
 * line; any other one takes the place of the variable, unless the shell sets that now.
 */
function withDefault(name: string, fallback: string, shell: Variables): string {
  if (!/[\uE000-\uE001}\n]/.test(fallback) && fallback === fallback.trim())
    return keptReference(`${name}:-${fallback}`);
  const now = shell[name];
  return now === undefined || now === "" ? fallback : now;
}

const mark = /^\uE000([A-Za-z_]\w*)(?::-([^\uE001]*))?\uE001$/;

/** A text that is one variable: its name and default. */
export function wholeVariable(text: string): { name: string; fallback: string | undefined } | undefined {
  const [, name, fallback] = mark.exec(text) ?? [];
  return name === undefined ? undefined : { name, fallback };
}

/** Whether a variable without a default is in it. */
export function hasOpenVariable(text: string): boolean {
  return /\uE000[A-Za-z_]\w*\uE001/.test(text);
}

/** What a text is where every variable has its default. */
export function withDefaults(text: string): string {
  return text.replaceAll(/\uE000[A-Za-z_]\w*(?::-([^\uE001]*))?\uE001/g, (_, fallback?: string) => fallback ?? "");
}
