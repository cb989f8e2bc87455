import { pageAnswer, redirectAnswer } from "./hosted-answers.ts";
import { formAnswer, sealOf } from "./hosted-form.ts";
import { mountForm, mountPage, type PageCall } from "./hosted-mount.ts";
import { deviceCookie } from "./hosted-page.ts";
import { toBase } from "./oauth.ts";
import { sayFor } from "./pages/frame.ts";
import { messagePage, signOutPage } from "./pages/steps.ts";
import type { IdentityPlane } from "./plane.ts";

/**
 * `/sign-out`: ends the session of this browser, then goes to `redirect_uri` where the instance knows it. Any page can
 * lead a browser here, so it asks first; not where `session_id` is that of the session, which only its own app knows.
 * If no user is signed in on the host of the instance, a provider may have started a session on the base.
 */
export function mountSignOut(plane: IdentityPlane): void {
  const { signIn, newSecret } = plane.identity.hosted;

  async function leave(call: PageCall, redirectUri: string): Promise<Response> {
    await signIn.out(call.browser);
    return onward(call, redirectUri, [deviceCookie(plane, call.browser.entry, undefined)]);
  }

  function onward(call: PageCall, redirectUri: string, cookies: string[] = []): Response {
    const { browser, face, request } = call;
    const to = redirectUri === "" ? undefined : signIn.redirect(browser, redirectUri);
    if (to !== undefined) return redirectAnswer(to, { status: request.method === "POST" ? 303 : 302, cookies });
    const say = sayFor(face);
    const nonce = newSecret();
    const html = messagePage({ face, nonce, heading: say("signed_out"), text: say("signed_out_hint") });
    return pageAnswer(html, { nonce, image: face.logoUrl, cookies });
  }

  function ask(call: PageCall, redirectUri: string, notice?: string): Response {
    const { browser, face, prefix } = call;
    const { current } = signIn.offer(browser);
    if (current === undefined) {
      const fields = { redirect_uri: redirectUri, session_id: call.query.get("session_id") ?? "" };
      return toBase(plane, call, { path: "/sign-out", fields }) ?? onward(call, redirectUri);
    }
    const seal = sealOf(plane, call);
    const render = (nonce: string) =>
      signOutPage({ face, nonce, prefix, seal, redirectUri, email: current.email, problem: notice });
    return formAnswer(plane, call, { render, redirectUri, isStale: notice !== undefined });
  }

  mountPage(plane, "/sign-out", (call) => {
    const redirectUri = call.query.get("redirect_uri") ?? "";
    const session = call.query.get("session_id") ?? "";
    const isOwn = signIn.isSession(call.browser, session) && !isAhead(call.request);
    return isOwn ? leave(call, redirectUri) : ask(call, redirectUri);
  });
  mountForm(plane, "/sign-out", {
    answer: (call) => leave(call, call.form.get("redirect_uri") ?? ""),
    stale: (call) => ask(call, call.form.get("redirect_uri") ?? "", sayFor(call.face)("error_form")),
  });
}

/** Browsers that fetch links ahead of a click must not sign anybody out. */
function isAhead({ headers }: Request): boolean {
  return /prefetch|prerender/.test(headers.get("sec-purpose") ?? "");
}
