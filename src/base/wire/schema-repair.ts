import { Kind, type TSchema } from "@sinclair/typebox";
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import { meantField } from "../pure/field-words.ts";
import { pointerKeys, pointerPath } from "./pointer.ts";

/** A value with samples in place of what did not match its schema. */
export interface Repaired<T> {
  /** The value twice, with different samples: what is found in only one of them comes from the sample. */
  values: [T, T];
  /** Paths that hold a sample now. */
  paths: string[];
}

interface Check<T> {
  errors: (value: unknown) => Iterable<ValueError>;
  matches: (value: unknown) => value is T;
}

/** A repair can bring up what the faulty value hid: a required field of a renamed block, for example. */
const roundsMax = 8;

/** A larger value takes too long: its faults are reported without a repair. */
const nodesMax = 5_000;

/**
 * Makes a value match its schema, so that rules on the rest of it can run. `path` is that of the value. Undefined
 * where that does not work out.
 */
export function repair<T>(check: Check<T>, value: unknown, path: string): Repaired<T> | undefined {
  if (isTooLarge(value)) return undefined;
  const paths = new Set<string>();
  const values = [first, second].map((sample) => {
    const holder = { value: structuredClone(value) };
    for (let round = 0; round < roundsMax && !check.matches(holder.value); round++) {
      for (const error of [...check.errors(holder.value)]) {
        for (const at of putSample(holder, error, sample)) paths.add(pointerPath(at, { value: holder.value, path }));
      }
    }
    return holder.value;
  });
  const [one, other] = values;
  return check.matches(one) && check.matches(other) ? { values: [one, other], paths: [...paths] } : undefined;
}

type Sample = (schema: TSchema) => unknown;

const first: Sample = (schema) => Value.Create(schema);

/** Another one where the schema has another. */
const second: Sample = (schema) => {
  const usual = first(schema);
  switch (schema[Kind]) {
    case "Boolean":
      return !usual;
    case "Integer":
    case "Number":
      return schema.maximum ?? Number(usual) + 1000;
    case "String":
      return usual === "" ? "x" : usual;
    case "Array":
      return Array.isArray(usual) && usual.length === 0 ? [second(schema.items)] : usual;
    default:
      return usual;
  }
};

/** Puts a sample where an error is; returns the pointers of what is not the caller's word any more. */
function putSample(holder: { value: unknown }, error: ValueError, sample: Sample): string[] {
  const keys = pointerKeys(error.path);
  const last = keys.at(-1) ?? "value";
  const parent = keys.slice(0, -1).reduce(read, keys.length === 0 ? holder : holder.value);
  if (typeof parent !== "object" || parent === null) return [];
  if (error.type !== ValueErrorType.ObjectAdditionalProperties) {
    Reflect.set(parent, last, sample(error.schema));
    return [error.path];
  }
  const given = read(parent, last);
  Reflect.deleteProperty(parent, last);
  const meant = meantField(last, Object.keys(error.schema.properties ?? {}))?.split(".")[0];
  if (meant === undefined || Object.hasOwn(parent, meant)) return [error.path];
  Reflect.set(parent, meant, given);
  return [error.path, `${error.path.slice(0, error.path.lastIndexOf("/"))}/${meant}`];
}

function read(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

/** Whether a value has too many nodes to be repaired. */
export function isTooLarge(value: unknown): boolean {
  return nodesLeft(value, nodesMax) === 0;
}

/** How many of the nodes that are allowed a value leaves. */
function nodesLeft(value: unknown, left: number): number {
  if (typeof value !== "object" || value === null) return Math.max(0, left - 1);
  let rest = Math.max(0, left - 1);
  for (const key in value) {
    if (rest === 0) break;
    rest = nodesLeft(Reflect.get(value, key), rest);
  }
  return rest;
}
