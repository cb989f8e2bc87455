import { type TProperties, type TSchema, type TUnsafe, Type } from "@sinclair/typebox";

/** An object that refuses fields it does not name: a misspelled field must never be lost in silence. */
export const Shape = <P extends TProperties>(properties: P, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...(description === undefined ? {} : { description }) });

/** A map with free keys. Keys are checked by the rules of the field, not here. */
export const MapOf = <V extends TSchema>(value: V, description: string) =>
  Type.Record(Type.String(), value, { additionalProperties: false, description });

/** Longest list in a spec: keeps the work per manifest bounded whatever the body holds. */
const listItemsMax = 1_000;

export const ListOf = <V extends TSchema>(item: V, description?: string) =>
  Type.Array(item, { maxItems: listItemsMax, ...(description === undefined ? {} : { description }) });

export const Words = (description: string) => ListOf(Type.String(), description);

/** In any order: only the union of them counts. */
type LiteralsOf<T extends string> = [TUnsafe<T>];

/** One of a few words. */
export const OneOf = <const T extends string>(values: readonly T[], description: string, fallback?: NoInfer<T>) =>
  Type.Union(values.map((value) => Type.Literal(value)) as unknown as LiteralsOf<T>, {
    description,
    ...(fallback === undefined ? {} : { default: fallback }),
  });

/** A duration text such as `1h30m`, `10s`, `500ms`, `2d`. */
export const Duration = (description: string, fallback?: string) =>
  Type.String({ description, ...(fallback === undefined ? {} : { default: fallback }) });
