import type { Static, TObject } from "@sinclair/typebox";
import { problemsFailure } from "./failure.ts";
import { schemaCheck } from "./schema-check.ts";

/** A reader of one body: answers with the value, or fails `invalid` with its faults, at most `problemsMax` of them. */
export function schemaReader<T extends TObject>(schema: T, problemsMax = 20): (body: unknown) => Static<T> {
  const check = schemaCheck(schema);
  return (body) => {
    if (check.matches(body)) return body;
    throw problemsFailure(check.problems(body, "", problemsMax));
  };
}

/** Like `schemaReader`, for the body of an endpoint. */
export function bodyReader<B extends TObject>({ path, body }: { path: string; body?: B }) {
  if (body === undefined) throw new TypeError(`${path} has no body to read`);
  return schemaReader(body);
}
