import type { FormOutcome } from "./forms.ts";
import { beginSignUp, type SignUpForm } from "./sign-up-begin.ts";
import { finishSignUp, type UsedLink } from "./sign-up-finish.ts";
import { findSignUp, isSameBrowser, type SignUpParts } from "./sign-up-parts.ts";
import type { Visit } from "./visit.ts";

/** What a link of a sign-up opens. */
type Pending = { needsPassword: boolean; redirectUri: string } | undefined;

export interface SignUp {
  begin(visit: Visit, form: SignUpForm): Promise<FormOutcome>;
  /** Looks at a link without using it up: mail programs open links on their own. */
  look(visit: Visit, value: string): Pending;
  finish(visit: Visit, link: UsedLink): Promise<FormOutcome>;
}

export function createSignUp(parts: SignUpParts): SignUp {
  const { store, clock } = parts.context;
  return {
    begin: (visit, form) => beginSignUp(parts, visit, form),
    look(visit, value) {
      const found = findSignUp(store, visit, { value, now: clock.now() });
      if (found === undefined) return undefined;
      return { needsPassword: !isSameBrowser(visit, found.data), redirectUri: found.data.redirectUri };
    },
    finish: (visit, link) => finishSignUp(parts, visit, link),
  };
}
