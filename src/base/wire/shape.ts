import { type TProperties, type TSchema, type TUnsafe, Type } from "@sinclair/typebox";

/** An object that refuses fields it does not name: a misspelled field must never be lost in silence. */
export const Shape = <P extends TProperties>(properties: P, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...(description === undefined ? {} : { description }) });

/** Longest list and largest map in a spec: they keep the work per manifest bounded whatever the body holds. */
const listItemsMax = 1_000;
const mapEntriesMax = 10_000;

/** A map with free keys. Keys are checked by the rules of the field, not here. */
export const MapOf = <V extends TSchema>(value: V, description: string) =>
  Type.Record(Type.String(), value, { additionalProperties: false, maxProperties: mapEntriesMax, description });

export const ListOf = <V extends TSchema>(item: V, description?: string) =>
  Type.Array(item, { maxItems: listItemsMax, ...(description === undefined ? {} : { description }) });

export const Words = (description: string) => ListOf(Type.String(), description);

/** In any order: only the union of them counts. */
type LiteralsOf<T extends string> = [TUnsafe<T>];

/** Largest count where the schema of a field names no smaller one: far above any use, and safe to calculate with. */
const countMax = 1_000_000;

/** A whole number with an upper bound. Where that is a setting of `config/`, the rules of the field have it instead. */
export const Count = (description: string, options: { minimum: number; maximum?: number; default?: number }) =>
  Type.Integer({ maximum: countMax, ...options, description });

/** One of a few words. */
export const OneOf = <const T extends string>(values: readonly T[], description: string, fallback?: NoInfer<T>) =>
  Type.Union(values.map((value) => Type.Literal(value)) as unknown as LiteralsOf<T>, {
    description,
    ...(fallback === undefined ? {} : { default: fallback }),
  });

/** A duration text such as `1h30m`, `10s`, `500ms`, `2d`. */
export const Duration = (description: string, fallback?: string) =>
  Type.String({ description, ...(fallback === undefined ? {} : { default: fallback }) });
