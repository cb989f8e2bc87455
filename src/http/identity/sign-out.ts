import { pageAnswer, redirectAnswer } from "./hosted-answers.ts";
import { mountForm, mountPage, type PageCall } from "./hosted-mount.ts";
import { deviceCookie } from "./hosted-page.ts";
import { sayFor } from "./pages/frame.ts";
import { messagePage } from "./pages/steps.ts";
import type { IdentityPlane } from "./plane.ts";

/** `/sign-out`: ends the session of this browser, then goes to `redirect_uri` where the instance knows it. */
export function mountSignOut(plane: IdentityPlane): void {
  const { hosted } = plane.identity;

  async function leave(call: PageCall, redirectUri: string): Promise<Response> {
    const { visit, face, request } = call;
    // Browsers that fetch links ahead of a click must not sign anybody out.
    const isAhead = /prefetch|prerender/.test(request.headers.get("sec-purpose") ?? "");
    if (!isAhead) await hosted.signIn.out(visit);
    const cookies = isAhead ? [] : [deviceCookie(plane, visit.entry, undefined)];
    const to = hosted.signIn.redirect(visit.entry, redirectUri);
    if (to !== undefined) return redirectAnswer(to, { status: request.method === "POST" ? 303 : 302, cookies });
    const say = sayFor(face);
    const nonce = hosted.newSecret();
    const html = messagePage({ face, nonce, heading: say("signed_out"), text: say("signed_out_hint") });
    return pageAnswer(html, { nonce, image: face.logoUrl, cookies });
  }

  mountPage(plane, "/sign-out", (call) => leave(call, call.query.get("redirect_uri") ?? ""));
  const form = (call: PageCall & { form: URLSearchParams }) => leave(call, call.form.get("redirect_uri") ?? "");
  mountForm(plane, "/sign-out", {
    answer: form,
    stale: (call) => redirectAnswer(`${call.prefix}/sign-out`, { status: 303 }),
  });
}
