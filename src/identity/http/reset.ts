import type { FormProblem } from "../service/forms.ts";
import { pageAnswer } from "./hosted-answers.ts";
import { formAnswer, outcomeAnswer, problemText, sealOf } from "./hosted-form.ts";
import { mountForm, mountPage, type PageCall } from "./hosted-mount.ts";
import { problemAnswer } from "./hosted-problem.ts";
import { sayFor } from "./pages/frame.ts";
import { forgotPage, messagePage, resetPage } from "./pages/steps.ts";
import type { IdentityPlane } from "./plane.ts";

interface Asked {
  redirectUri: string;
  email?: string;
  problem?: FormProblem;
  notice?: string;
}

interface Chosen {
  value: string;
  problem?: FormProblem;
  notice?: string;
}

/** `/forgot`, and `/reset`, where the link in the mail leads. */
export function mountReset(plane: IdentityPlane): void {
  const { signIn, reset, newSecret } = plane.identity.hosted;

  const ask = (call: PageCall, asked: Asked): Response => {
    const { browser, face, prefix } = call;
    const redirectUri = signIn.redirect(browser, asked.redirectUri);
    if (redirectUri === undefined) return problemAnswer(plane, { face, problem: "redirect" });
    const { email = "", problem, notice } = asked;
    const text = problem === undefined ? notice : problemText(call, problem);
    const seal = sealOf(plane, call);
    const render = (nonce: string) => forgotPage({ face, nonce, prefix, seal, redirectUri, email, problem: text });
    return formAnswer(plane, call, { render, redirectUri, problem, isStale: notice !== undefined });
  };
  const read = (form: URLSearchParams) => ({
    redirectUri: form.get("redirect_uri") ?? "",
    email: form.get("email") ?? "",
  });

  mountPage(plane, "/forgot", (call) => ask(call, { redirectUri: call.query.get("redirect_uri") ?? "" }));
  mountForm(plane, "/forgot", {
    async answer(call) {
      const asked = read(call.form);
      const outcome = await reset.begin(call.browser, asked);
      const again = (problem: FormProblem) => ask(call, { ...asked, problem });
      return outcomeAnswer(plane, call, { outcome, again, sent: "check_mail_reset" });
    },
    stale: (call) => ask(call, { ...read(call.form), notice: sayFor(call.face)("error_form") }),
  });

  const choose = (call: PageCall, { value, problem, notice }: Chosen): Response => {
    const { browser, face, prefix } = call;
    if (!reset.look(browser, value)) return problemAnswer(plane, { face, problem: "link" });
    const lengthMin = browser.entry.settings.min_password_length;
    const text = problem === undefined ? notice : problemText(call, problem);
    const seal = sealOf(plane, call);
    const render = (nonce: string) => resetPage({ face, nonce, prefix, seal, value, lengthMin, problem: text });
    return formAnswer(plane, call, { render, problem, isStale: notice !== undefined });
  };

  mountPage(plane, "/reset", (call) => choose(call, { value: call.query.get("token") ?? "" }));
  mountForm(plane, "/reset", {
    async answer(call) {
      const { browser, form, face, prefix } = call;
      const value = form.get("token") ?? "";
      const outcome = await reset.finish(browser, { value, password: form.get("password") ?? "" });
      if ("problem" in outcome) return choose(call, { value, problem: outcome });
      if ("end" in outcome) return problemAnswer(plane, { face, problem: outcome.end });
      const say = sayFor(face);
      const nonce = newSecret();
      const href = `${prefix}/sign-in?${new URLSearchParams({ redirect_uri: outcome.redirectUri })}`;
      const [heading, text] = [say("reset_done"), say("reset_done_hint")];
      const html = messagePage({ face, nonce, heading, text, action: { href, label: say("sign_in") } });
      return pageAnswer(html, { nonce, image: face.logoUrl });
    },
    stale: (call) => choose(call, { value: call.form.get("token") ?? "", notice: sayFor(call.face)("error_form") }),
  });
}
