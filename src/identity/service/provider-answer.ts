import { isFields } from "../../base/pure/fields.ts";
import { Failure } from "../../base/wire/failure.ts";
import type { GuardedAnswer } from "../../base/deliver/guarded-fetch.ts";

export type Fields = Record<string, unknown>;

/**
 * JSON of a provider's answer. Fails `unavailable` when the provider has trouble of its own and `invalid` when what it
 * said makes no sense: nothing of it is repeated.
 */
export function jsonOf({ status, body }: GuardedAnswer, what: string): unknown {
  if (status >= 500 || status === 429) throw new Failure("unavailable", `the ${what} answered ${status}`);
  try {
    return JSON.parse(body) as unknown;
  } catch {
    throw new Failure("invalid", `the ${what} answered ${status} with something that is not JSON`);
  }
}

/** Like `jsonOf`, where it must be an object, answered with 200. */
export function fieldsOf(answer: GuardedAnswer, what: string): Fields {
  const value = jsonOf(answer, what);
  if (answer.status !== 200) throw new Failure("invalid", `the ${what} answered ${answer.status}`);
  if (isFields(value)) return value;
  throw new Failure("invalid", `the ${what} did not answer with an object`);
}
