import { problemsFailure } from "../../base/wire/failure.ts";
import { schemaCheck } from "../../base/wire/schema-check.ts";

const problemsMax = 20;

type ObjectSchema = Parameters<typeof schemaCheck>[0];

/** A reader of one body: answers with the value, or fails `invalid` with everything that is wrong. */
export function bodyReader<B extends ObjectSchema>({ path, body: schema }: { path: string; body?: B }) {
  if (schema === undefined) throw new TypeError(`${path} has no body to read`);
  const check = schemaCheck(schema);
  return (body: unknown) => {
    if (check.matches(body)) return body;
    throw problemsFailure(check.problems(body, "", problemsMax));
  };
}
