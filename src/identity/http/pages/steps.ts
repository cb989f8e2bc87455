import { markup } from "../../core/html.ts";
import { field, type FormSeal, hidden, mainButton, problemBox, sealed } from "./form.ts";
import { type Face, frame, sayFor } from "./frame.ts";

interface StepView {
  face: Face;
  nonce: string;
  prefix: string;
  seal: FormSeal;
  problem: string | undefined;
}

/** Asks for the address that a reset link goes to. */
export function forgotPage(view: StepView & { redirectUri: string; email: string }): string {
  const { face, nonce, prefix, seal, problem, redirectUri, email } = view;
  const say = sayFor(face);
  const isWrong = problem !== undefined;
  const back = `${prefix}/sign-in?${new URLSearchParams({ redirect_uri: redirectUri })}`;
  const body = markup`${problemBox(problem)}
<form method="post" action="${prefix}/forgot">
${sealed(seal)} ${hidden({ redirect_uri: redirectUri })}
${field({ name: "email", type: "email", label: say("email"), value: email, autocomplete: "username", isWrong, focus: true })}
${mainButton(say("reset_send"))}
</form>
<p class="foot"><a href="${back}">${say("back_to_sign_in")}</a></p>`;
  return frame({ face, heading: say("reset"), intro: say("reset_intro"), body, nonce });
}

/** What a reset link opens. */
export function resetPage(view: StepView & { value: string; lengthMin: number }): string {
  const { face, nonce, prefix, seal, problem, value, lengthMin } = view;
  const say = sayFor(face);
  const hint = say("password_hint", { count: lengthMin });
  const isWrong = problem !== undefined;
  const body = markup`${problemBox(problem)}
<form method="post" action="${prefix}/reset">
${sealed(seal)} ${hidden({ token: value })}
${field({ name: "password", type: "password", label: say("new_password"), hint, autocomplete: "new-password", maxLength: 1_024, minLength: lengthMin, isWrong, focus: true })}
${mainButton(say("reset_save"))}
</form>`;
  return frame({ face, heading: say("reset_choose"), body, nonce });
}

/** What the link of a sign-up opens: a button, for mail programs open links on their own. */
export function verifyPage(view: StepView & { value: string; needsPassword: boolean }): string {
  const { face, nonce, prefix, seal, problem, value, needsPassword } = view;
  const say = sayFor(face);
  const isWrong = problem !== undefined;
  const body = markup`${problemBox(problem)}
<form method="post" action="${prefix}/verify">
${sealed(seal)}
${hidden({ token: value })}${
    needsPassword &&
    field({
      name: "password",
      type: "password",
      label: say("password"),
      autocomplete: "current-password",
      maxLength: 1_024,
      isWrong,
      focus: true,
    })
  }
${mainButton(say("confirm"))}
</form>`;
  const intro = say(needsPassword ? "verify_password" : "verify_here");
  return frame({ face, heading: say("verify"), intro, body, nonce });
}

/** Asks whether to sign out. */
export function signOutPage(view: StepView & { redirectUri: string; email: string }): string {
  const { face, nonce, prefix, seal, problem, redirectUri, email } = view;
  const say = sayFor(face);
  const body = markup`${problemBox(problem)}
<form method="post" action="${prefix}/sign-out">
${sealed(seal)} ${hidden({ redirect_uri: redirectUri })}
${mainButton(say("sign_out"))}
</form>`;
  return frame({ face, heading: say("sign_out"), intro: say("sign_out_intro", { email }), body, nonce });
}

interface MessageView {
  face: Face;
  nonce: string;
  heading: string;
  text: string;
  /** Where one may go from here. */
  action?: { href: string; label: string } | undefined;
  hint?: string | undefined;
}

/** Says something, and perhaps where to go on. */
export function messagePage({ face, nonce, heading, text, action, hint }: MessageView): string {
  const body = markup`${hint !== undefined && markup`<p class="hint">${hint}</p>`}${
    action !== undefined && markup`<p><a class="button" href="${action.href}">${action.label}</a></p>`
  }`;
  return frame({ face, heading, intro: text, body, nonce });
}

/** Takes a token to the app in the body of a request; by a button where there is no JavaScript. */
export function returnPage({
  face,
  nonce,
  to,
  fields,
}: {
  face: Face;
  nonce: string;
  to: string;
  fields: Record<string, string>;
}): string {
  const say = sayFor(face);
  const body = markup`<form method="post" action="${to}">${hidden(fields)}${mainButton(say("continue"))}</form>
<script nonce="${nonce}">
document.forms[0].submit();
</script>`;
  return frame({ face, heading: say("returning"), intro: say("returning_hint"), body, nonce });
}
