import { readableEmail } from "../../base/pure/domain-names.ts";
import type { FormOutcome, FormProblem } from "../service/forms.ts";
import { pageAnswer } from "./hosted-answers.ts";
import type { PageCall } from "./hosted-mount.ts";
import { deliveryAnswer, deviceCookie, flowCookie } from "./hosted-page.ts";
import { problemAnswer } from "./hosted-problem.ts";
import type { FormSeal } from "./pages/form.ts";
import { sayFor } from "./pages/frame.ts";
import { messagePage } from "./pages/steps.ts";
import type { IdentityPlane } from "./plane.ts";

export function sealOf(plane: IdentityPlane, { browser }: PageCall): FormSeal {
  const { hosted } = plane.identity;
  return { token: hosted.formToken(browser.entry, browser.flow), at: Math.floor(hosted.now() / 1_000) };
}

/** Cookies that go with a form: what binds it to the browser, and what the browser is known by later. */
function formCookies(plane: IdentityPlane, call: PageCall): string[] {
  const { browser } = call;
  if (browser.device !== undefined) return [flowCookie(plane, call)];
  const { newSecret } = plane.identity.hosted;
  const device = { device: newSecret(), login: newSecret() };
  return [flowCookie(plane, call), deviceCookie(plane, browser.entry, device)];
}

interface FormPage {
  render: (nonce: string) => string;
  /** Where the browser goes after the form; on a listed loopback address that may be another port. */
  redirectUri?: string;
  problem?: FormProblem | undefined;
  /** It comes again because the last one was open for too long. */
  isStale?: boolean;
}

/** A page with a form on it. */
export function formAnswer(
  plane: IdentityPlane,
  call: PageCall,
  { render, redirectUri = "", problem, isStale = false }: FormPage,
): Response {
  const nonce = plane.identity.hosted.newSecret();
  return pageAnswer(render(nonce), {
    nonce,
    status: problem === undefined ? (isStale ? 400 : 200) : statusOf(problem),
    formTargets: [redirectUri, ...call.browser.entry.settings.redirect_uris],
    image: call.face.logoUrl,
    cookies: formCookies(plane, call),
    retryAfterSeconds: problem?.problem === "rate" ? problem.seconds : undefined,
  });
}

function statusOf({ problem }: FormProblem): number {
  if (problem === "rate") return 429;
  return problem === "credentials" ? 401 : 400;
}

/** What a problem is called on the page. */
export function problemText({ face }: PageCall, problem: FormProblem): string {
  const say = sayFor(face);
  switch (problem.problem) {
    case "password_short":
      return say("error_password_short", { count: problem.count });
    case "rate":
      return say("error_rate", { seconds: problem.seconds });
    default:
      return say(`error_${problem.problem}`);
  }
}

/** Ends a form: the app, a page that says what comes next, or the form again. */
export function outcomeAnswer(
  plane: IdentityPlane,
  call: PageCall,
  { outcome, again, sent }: { outcome: FormOutcome; again: (problem: FormProblem) => Response; sent: SentTexts },
): Response {
  const { face, browser } = call;
  if ("problem" in outcome) return again(outcome);
  if ("end" in outcome) return problemAnswer(plane, { face, problem: outcome.end });
  if ("sent" in outcome) return sentAnswer(plane, call, { email: outcome.sent, sent });
  const cookies = [deviceCookie(plane, browser.entry, outcome.device)];
  return deliveryAnswer(plane, outcome.delivery, { face, status: 303, cookies });
}

type SentTexts = "check_mail_sign_up" | "check_mail_reset";

function sentAnswer(
  plane: IdentityPlane,
  { face }: PageCall,
  { email, sent }: { email: string; sent: SentTexts },
): Response {
  const say = sayFor(face);
  const nonce = plane.identity.hosted.newSecret();
  const [heading, text, hint] = [say("check_mail"), say(sent, { email: readableEmail(email) }), say("check_mail_hint")];
  return pageAnswer(messagePage({ face, nonce, heading, text, hint }), { nonce, image: face.logoUrl });
}
