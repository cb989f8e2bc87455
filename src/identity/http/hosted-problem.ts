import { Failure, failureStatus } from "../../base/wire/failure.ts";
import { chooseLanguage } from "../core/languages.ts";
import type { MessageKey } from "../core/messages-en.ts";
import { pageAnswer } from "./hosted-answers.ts";
import { type Face, sayFor } from "./pages/frame.ts";
import { messagePage } from "./pages/steps.ts";
import type { IdentityPlane } from "./plane.ts";

type Problem = "redirect" | "provider" | "state" | "cookies" | "link" | "missing";

const texts: Record<Problem, { heading: MessageKey; text: MessageKey; status: number }> = {
  redirect: { heading: "error_redirect", text: "error_redirect_hint", status: 400 },
  provider: { heading: "error_provider", text: "error_provider_hint", status: 400 },
  state: { heading: "error_state", text: "error_state_hint", status: 400 },
  cookies: { heading: "error_cookies", text: "error_cookies_hint", status: 400 },
  link: { heading: "error_link", text: "error_link_hint", status: 400 },
  missing: { heading: "error_missing", text: "error_missing_hint", status: 404 },
};

interface ProblemOptions {
  face: Face;
  problem: Problem;
  /** Where the user may start again. */
  again?: string | undefined;
  cookies?: readonly string[];
}

/** Says what is wrong, on a page of our own: there is nowhere to send the browser. */
export function problemAnswer(plane: IdentityPlane, { face, problem, again, cookies = [] }: ProblemOptions): Response {
  const say = sayFor(face);
  const { heading, text, status } = texts[problem];
  const nonce = plane.identity.hosted.newSecret();
  const action = again === undefined ? undefined : { href: again, label: say("try_again") };
  const html = messagePage({ face, nonce, heading: say(heading), text: say(text), action });
  return pageAnswer(html, { nonce, status, image: face.logoUrl, cookies });
}

/** A page without an instance: none is known. */
export function facelessProblem(plane: IdentityPlane, request: Request, problem: Problem): Response {
  return problemAnswer(plane, { face: facelessFor(request), problem });
}

export function facelessFor(request: Request): Face {
  const language = chooseLanguage("auto", request.headers.get("accept-language"));
  return { language, title: "", logoUrl: "", accent: "" };
}

/** The page for what a handler threw: expected errors have a status of their own, everything else is a bug. */
export function failurePage(plane: IdentityPlane, face: Face, error: unknown): Response {
  const say = sayFor(face);
  const nonce = plane.identity.hosted.newSecret();
  const heading = say("error");
  if (error instanceof Failure && error.code !== "internal") {
    const text = failureText(face, error);
    const html = messagePage({ face, nonce, heading, text });
    return pageAnswer(html, {
      nonce,
      status: failureStatus[error.code],
      image: face.logoUrl,
      retryAfterSeconds: error.retryAfterSeconds,
    });
  }
  const id = crypto.randomUUID().slice(0, 8);
  plane.log.error("internal error", { id, error });
  const html = messagePage({ face, nonce, heading, text: `(${id})` });
  return pageAnswer(html, { nonce, status: 500, image: face.logoUrl });
}

function failureText(face: Face, { code, retryAfterSeconds = 60 }: Failure): string {
  const say = sayFor(face);
  if (code === "too_many") return say("error_rate", { seconds: retryAfterSeconds });
  if (code === "unavailable") return say("error_busy");
  return code === "too_large" ? say("error_large") : "";
}
