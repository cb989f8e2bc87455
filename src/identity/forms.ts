import type { RateBucket } from "./context.ts";
import type { IdentityContext } from "./context.ts";
import type { Admitted } from "./entrance.ts";
import type { Visit } from "./visit.ts";

/** What is wrong with a form that was sent; it is shown again. */
export type FormProblem =
  | { problem: "credentials" | "email" | "name" | "password_long" | "password_email" }
  | { problem: "password_short"; count: number }
  | { problem: "rate"; seconds: number };

/** What cannot be mended by filling the form in again. */
export type DeadEnd = { end: "redirect" | "provider" | "link" };

export type FormOutcome = FormProblem | DeadEnd | Admitted | { sent: string };

type Limited = Pick<IdentityContext, "rateLimits">;

/** Counts one post of a credential; what there is to say when it is one too many. */
export function takeRates(
  { rateLimits }: Limited,
  visit: Visit,
  wanted: { perClient: RateBucket; perAccount?: RateBucket; email: string },
): FormProblem | undefined {
  const { perClient, perAccount, email } = wanted;
  const waits = [
    rateLimits.take(perClient, visit.ip),
    perAccount === undefined ? undefined : rateLimits.take(perAccount, accountKey(visit, email)),
  ].filter((seconds) => seconds !== undefined);
  return waits.length === 0 ? undefined : { problem: "rate", seconds: Math.max(...waits) };
}

/** One address in one instance, whether there is such a user or not. */
export function accountKey({ entry }: Visit, email: string): string {
  return `${entry.instance.seq}\0${email}`;
}
