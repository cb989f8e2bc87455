import type { FormProblem } from "../service/forms.ts";
import type { Offer } from "../service/sign-in.ts";
import { formAnswer, outcomeAnswer, problemText, sealOf } from "./hosted-form.ts";
import { mountForm, mountPage, type PageCall } from "./hosted-mount.ts";
import { deliveryAnswer, deviceCookie } from "./hosted-page.ts";
import { problemAnswer } from "./hosted-problem.ts";
import { authorizeAnswer } from "./oauth.ts";
import { sayFor } from "./pages/frame.ts";
import { signInPage } from "./pages/sign-in.ts";
import type { IdentityPlane } from "./plane.ts";

interface Filled {
  redirectUri: string;
  email?: string;
  problem?: FormProblem;
  /** In the language of the page, where the cause is not in what was filled in. */
  notice?: string;
}

/** `/sign-in`, and what its forms are sent to. */
export function mountSignIn(plane: IdentityPlane): void {
  const { hosted } = plane.identity;
  const { signIn } = hosted;

  const show = (call: PageCall, filled: Filled): Response => {
    const { browser, face, prefix } = call;
    const redirectUri = signIn.redirect(browser, filled.redirectUri);
    if (redirectUri === undefined) return problemAnswer(plane, { face, problem: "redirect" });
    const { email = "", problem, notice } = filled;
    const text = problem === undefined ? notice : problemText(call, problem);
    const offer = signIn.offer(browser);
    const seal = sealOf(plane, call);
    const render = (nonce: string) =>
      signInPage({ face, nonce, prefix, redirectUri, offer, seal, email, problem: text });
    return formAnswer(plane, call, { render, redirectUri, problem, isStale: notice !== undefined });
  };

  mountPage(plane, "/sign-in", (call) => {
    const redirectUri = call.query.get("redirect_uri") ?? "";
    const provider = call.query.get("provider") || onlyWay(signIn.offer(call.browser));
    return provider === undefined
      ? show(call, { redirectUri })
      : authorizeAnswer(plane, call, { provider, redirectUri });
  });

  mountForm(plane, "/sign-in", {
    async answer(call) {
      const { form, browser } = call;
      const [email, redirectUri] = [form.get("email") ?? "", form.get("redirect_uri") ?? ""];
      const outcome = await signIn.withPassword(browser, { email, password: form.get("password") ?? "", redirectUri });
      const again = (problem: FormProblem) => show(call, { redirectUri, email, problem });
      return outcomeAnswer(plane, call, { outcome, again, sent: "check_mail_reset" });
    },
    stale: (call) => stale(call, show),
  });

  mountForm(plane, "/continue", {
    async answer(call) {
      const { browser, form, face } = call;
      const redirectUri = signIn.redirect(browser, form.get("redirect_uri") ?? "");
      if (redirectUri === undefined) return problemAnswer(plane, { face, problem: "redirect" });
      const admitted = await signIn.goOn(browser, redirectUri);
      if (admitted === undefined) return show(call, { redirectUri });
      const cookies = [deviceCookie(plane, browser.entry, admitted.device)];
      return deliveryAnswer(plane, admitted.delivery, { face, status: 303, cookies });
    },
    stale: (call) => stale(call, show),
  });
}

/** The provider where there is nothing to choose: the sign-in goes straight to it (docs/contract/identity.md, 1.1). */
function onlyWay({ providers, email }: Offer): string | undefined {
  const [only, ...more] = providers;
  return email || more.length > 0 ? undefined : only?.name;
}

function stale(
  call: PageCall & { form: URLSearchParams },
  show: (call: PageCall, filled: Filled) => Response,
): Response {
  const { form, face } = call;
  const [email, redirectUri] = [form.get("email") ?? "", form.get("redirect_uri") ?? ""];
  return show(call, { redirectUri, email, notice: sayFor(face)("error_form") });
}
