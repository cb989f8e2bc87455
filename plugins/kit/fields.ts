import { PluginError } from "../kit.ts";

/** Reads the fields of a block, and gathers everything that is wrong, so that all of it is reported at once. */
export interface Fields {
  text(field: string, fallback: string, rule?: Rule): string;
  /** Text that has to be there. */
  name(field: string, rule: Rule): string;
  whole(field: string, fallback: number, range: { least: number; most: number }): number;
  flag(field: string, fallback: boolean): boolean;
  words(field: string, rule?: Rule): string[];
  /** Text per key; numbers and booleans become text. */
  map(field: string): Record<string, string>;
  /** A nested block, once or left out. */
  block(field: string): Fields | undefined;
  /** Objects in a list. */
  blocks(field: string): Fields[];
  /** Like `blocks`, where an item may also be text: it stands for an object with that one field. */
  itemsOf(field: string, short: string): Fields[];
  /** What was written there, whatever it is. */
  raw(field: string): unknown;
  problem(field: string, message: string): void;
  /** Fails naming every problem, and every field that nothing has read and that is not among `others`. */
  done(others?: readonly string[]): void;
}

export interface Rule {
  pattern: RegExp;
  /** What the pattern asks for, such as `a name like "app"`. */
  form: string;
}

export const identifier: Rule = {
  pattern: /^[a-z_][a-z0-9_]{0,62}$/,
  form: 'lower-case letters, digits and "_", not beginning with a digit',
};

type Values = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function readFields(values: Values, path = "spec", problems: string[] = []): Fields {
  const read = new Set<string>();
  const problem = (field: string, message: string) => void problems.push(`${path}.${field}: ${message}`);
  const take = (field: string): unknown => {
    read.add(field);
    const value = values[field];
    return value === null ? undefined : value;
  };
  const checked = (field: string, value: unknown, rule?: Rule): string => {
    if (typeof value !== "string") problem(field, `expected text, got ${typeName(value)}`);
    else if (rule !== undefined && !rule.pattern.test(value))
      problem(field, `"${value.slice(0, 80)}" is not ${rule.form}`);
    else return value;
    return "";
  };
  const nested: Fields[] = [];
  const child = (value: unknown, at: string): Fields | undefined => {
    if (!isFields(value)) {
      problem(at, `expected an object, got ${typeName(value)}`);
      return undefined;
    }
    const fields = readFields(value, `${path}.${at}`, problems);
    nested.push(fields);
    return fields;
  };
  return {
    raw: take,
    problem,
    text(field, fallback, rule) {
      const value = take(field);
      return value === undefined ? fallback : checked(field, value, rule);
    },
    name(field, rule) {
      const value = take(field);
      if (value !== undefined) return checked(field, value, rule);
      problem(field, "is required");
      return "";
    },
    whole(field, fallback, { least, most }) {
      const value = take(field) ?? fallback;
      if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
      problem(field, `expected a whole number from ${least} to ${most}, got ${shown(value)}`);
      return fallback;
    },
    flag(field, fallback) {
      const value = take(field) ?? fallback;
      if (typeof value === "boolean") return value;
      problem(field, `expected true or false, got ${shown(value)}`);
      return fallback;
    },
    words(field, rule) {
      const value = take(field) ?? [];
      if (!Array.isArray(value)) {
        problem(field, `expected a list, got ${typeName(value)}`);
        return [];
      }
      return value.map((word, index) => checked(`${field}[${index}]`, word, rule));
    },
    map(field) {
      const value = take(field) ?? {};
      if (!isFields(value)) {
        problem(field, `expected an object, got ${typeName(value)}`);
        return {};
      }
      return Object.fromEntries(
        Object.entries(value).map(([key, entry]) => [key, scalar(problem, `${field}.${key}`, entry)]),
      );
    },
    block(field) {
      const value = take(field);
      return value === undefined ? undefined : child(value, field);
    },
    /** A block that is written once arrives as the object itself. */
    blocks(field) {
      const value = take(field) ?? [];
      const list: unknown[] = Array.isArray(value) ? value : [value];
      return list.flatMap((entry, index) => child(entry, `${field}[${index}]`) ?? []);
    },
    itemsOf(field, short) {
      const value = take(field) ?? [];
      const list: unknown[] = Array.isArray(value) ? value : [value];
      return list.flatMap((entry, index) => {
        const item = typeof entry === "string" ? { [short]: entry } : entry;
        return child(item, `${field}[${index}]`) ?? [];
      });
    },
    done(others = []) {
      for (const fields of nested) fields.done();
      const known = [...read, ...others].sort();
      for (const field of Object.keys(values)) {
        if (!known.includes(field)) problem(field, `unknown field; known are ${known.join(", ")}`);
      }
      if (path === "spec" && problems.length > 0) throw new PluginError([...new Set(problems)].join("\n"));
    },
  };
}

function scalar(problem: Fields["problem"], at: string, value: unknown): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  problem(at, `expected text, got ${typeName(value)}`);
  return "";
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : typeof value;
}

function shown(value: unknown): string {
  return typeof value === "number" || typeof value === "string" ? JSON.stringify(value).slice(0, 80) : typeName(value);
}
