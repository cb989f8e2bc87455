import type { FormOutcome } from "./forms.ts";
import { beginSignUp, type SignUpForm } from "./sign-up-begin.ts";
import { finishSignUp, type UsedLink } from "./sign-up-finish.ts";
import { findSignUp, isSameBrowser, type SignUpParts } from "./sign-up-parts.ts";
import type { Browser } from "./browser.ts";

/** What a link of a sign-up opens. */
type Pending = { needsPassword: boolean; redirectUri: string } | undefined;

export interface SignUp {
  begin(browser: Browser, form: SignUpForm): Promise<FormOutcome>;
  /** Looks at a link without using it up: mail programs open links on their own. */
  look(browser: Browser, value: string): Pending;
  finish(browser: Browser, link: UsedLink): Promise<FormOutcome>;
}

export function createSignUp(parts: SignUpParts): SignUp {
  const { store, clock } = parts.context;
  return {
    begin: (browser, form) => beginSignUp(parts, browser, form),
    look(browser, value) {
      const found = findSignUp(store, browser, { value, now: clock.now() });
      if (found === undefined) return undefined;
      return { needsPassword: !isSameBrowser(browser, found.data), redirectUri: found.data.redirectUri };
    },
    finish: (browser, link) => finishSignUp(parts, browser, link),
  };
}
