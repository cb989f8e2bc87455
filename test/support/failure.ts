import { expect } from "bun:test";
import { Failure, type FailureCode, type FailureReason } from "../../src/base/wire/failure.ts";

/** Awaits a rejection and checks what kind of failure it is; returns it for a look at the message. */
export async function expectFailure(
  promise: Promise<unknown>,
  code: FailureCode,
  reason?: FailureReason,
): Promise<Failure> {
  const failure = await promise.then(
    (value) => {
      throw new Error(`expected a failure ${code}, got ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
  if (!(failure instanceof Failure)) throw failure;
  expect({ code: failure.code, reason: failure.reason, message: failure.message }).toEqual({
    code,
    reason: reason ?? failure.reason,
    message: failure.message,
  });
  return failure;
}

/** The failure that a call ends with, now or later. */
export async function thrownBy(call: () => unknown): Promise<Failure> {
  try {
    const value = await call();
    throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

/** `code: message` of the failure that a promise ends with. */
export async function failureText(work: Promise<unknown>): Promise<string> {
  const { code, message } = await thrownBy(() => work);
  return `${code}: ${message}`;
}
