import type { FormProblem } from "../service/forms.ts";
import { formAnswer, outcomeAnswer, problemText, sealOf } from "./hosted-form.ts";
import { mountForm, mountPage, type PageCall } from "./hosted-mount.ts";
import { problemAnswer } from "./hosted-problem.ts";
import { sayFor } from "./pages/frame.ts";
import { signUpPage } from "./pages/sign-in.ts";
import { verifyPage } from "./pages/steps.ts";
import type { IdentityPlane } from "./plane.ts";

interface Filled {
  redirectUri: string;
  email?: string;
  name?: string;
  problem?: FormProblem;
  notice?: string;
}

/** `/sign-up`, and `/verify`, where the link in the mail leads. */
export function mountSignUp(plane: IdentityPlane): void {
  const { signIn, signUp } = plane.identity.hosted;

  const show = (call: PageCall, filled: Filled): Response => {
    const { browser, face, prefix } = call;
    const redirectUri = signIn.redirect(browser, filled.redirectUri);
    if (redirectUri === undefined) return problemAnswer(plane, { face, problem: "redirect" });
    const { email = "", name = "", problem, notice } = filled;
    const lengthMin = browser.entry.settings.min_password_length;
    const text = problem === undefined ? notice : problemText(call, problem);
    const view = { face, prefix, redirectUri, offer: signIn.offer(browser), seal: sealOf(plane, call), email, name };
    const render = (nonce: string) => signUpPage({ ...view, nonce, lengthMin, problem: text });
    return formAnswer(plane, call, { render, redirectUri, problem, isStale: notice !== undefined });
  };
  const read = (form: URLSearchParams) => ({
    redirectUri: form.get("redirect_uri") ?? "",
    email: form.get("email") ?? "",
    name: form.get("name") ?? "",
  });

  mountPage(plane, "/sign-up", (call) => show(call, { redirectUri: call.query.get("redirect_uri") ?? "" }));
  mountForm(plane, "/sign-up", {
    async answer(call) {
      const filled = read(call.form);
      const outcome = await signUp.begin(call.browser, { ...filled, password: call.form.get("password") ?? "" });
      const again = (problem: FormProblem) => show(call, { ...filled, problem });
      return outcomeAnswer(plane, call, { outcome, again, sent: "check_mail_sign_up" });
    },
    stale: (call) => show(call, { ...read(call.form), notice: sayFor(call.face)("error_form") }),
  });

  const ask = (
    call: PageCall,
    { value, problem, notice }: { value: string; problem?: FormProblem; notice?: string },
  ) => {
    const { browser, face, prefix } = call;
    const pending = signUp.look(browser, value);
    if (pending === undefined) return problemAnswer(plane, { face, problem: "link" });
    const { needsPassword, redirectUri } = pending;
    const text = problem === undefined ? notice : problemText(call, problem);
    const seal = sealOf(plane, call);
    const render = (nonce: string) => verifyPage({ face, nonce, prefix, seal, value, needsPassword, problem: text });
    return formAnswer(plane, call, { render, redirectUri, problem, isStale: notice !== undefined });
  };

  mountPage(plane, "/verify", (call) => ask(call, { value: call.query.get("token") ?? "" }));
  mountForm(plane, "/verify", {
    async answer(call) {
      const value = call.form.get("token") ?? "";
      const outcome = await signUp.finish(call.browser, { value, password: call.form.get("password") ?? undefined });
      const again = (problem: FormProblem) => ask(call, { value, problem });
      return outcomeAnswer(plane, call, { outcome, again, sent: "check_mail_sign_up" });
    },
    stale: (call) => ask(call, { value: call.form.get("token") ?? "", notice: sayFor(call.face)("error_form") }),
  });
}
