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
    const isLink = !isAhead(request) && !isEmbedded(request);
    if (isLink) await hosted.signIn.out(visit);
    const cookies = isLink ? [deviceCookie(plane, visit.entry, undefined)] : [];
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

/** Browsers that fetch links ahead of a click must not sign anybody out. */
function isAhead({ headers }: Request): boolean {
  return /prefetch|prerender/.test(headers.get("sec-purpose") ?? "");
}

/** Nor must an image or a frame in a page of somebody else: only where a browser goes as a whole counts. */
function isEmbedded({ headers }: Request): boolean {
  const destination = headers.get("sec-fetch-dest") ?? "document";
  return headers.get("sec-fetch-site") === "cross-site" && destination !== "document";
}
