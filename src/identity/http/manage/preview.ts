import { randomBytes } from "node:crypto";
import { mountStream, type Plane } from "../../../base/http/mount.ts";
import { readParam } from "../../../base/http/request.ts";
import { previewIdentityPage } from "../../api/manage/preview.ts";
import type { Management } from "../../service/manage/manage.ts";
import { sayFor } from "../pages/frame.ts";
import { signInPage, signUpPage } from "../pages/sign-in.ts";

export function mountIdentityPreview(plane: Plane, { previews }: Management): void {
  mountStream(plane, previewIdentityPage, async ({ params, query }) => {
    const preview = previews.of(readParam(params, "instance"), query);
    const { state, face, offer, lengthMin } = preview;
    const nonce = randomBytes(16).toString("base64url");
    const problem = state === "wrong" ? sayFor(face)("error_credentials") : undefined;
    const view = {
      ...{ face, nonce, offer, problem, prefix: "", redirectUri: "" },
      ...{ seal: { token: "", at: 0 }, email: state === "wrong" ? "ana@example.com" : "" },
    };
    const html = state === "sign-up" ? signUpPage({ ...view, name: "", lengthMin }) : signInPage(view);
    return new Response(html, { headers: headersOf(nonce, face.logoUrl) });
  });
}

/** For a frame of the web UI: nothing runs, nothing is sent, and only the logo is loaded. */
function headersOf(nonce: string, logoUrl: string): Record<string, string> {
  const image = URL.canParse(logoUrl) ? ` ${new URL(logoUrl).origin}` : "";
  const policy = [
    "sandbox",
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    ...(image === "" ? [] : [`img-src${image}`]),
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ];
  return {
    "Content-Type": previewIdentityPage.stream ?? "",
    "Content-Security-Policy": policy.join("; "),
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  };
}
