import { type Html, markup } from "../../core/html.ts";
import type { Offer } from "../../service/sign-in.ts";
import { field, type FormSeal, hidden, mainButton, problemBox, sealed } from "./form.ts";
import { type Face, frame, sayFor } from "./frame.ts";
import { providerIcon } from "./icons.ts";

interface SignInView {
  face: Face;
  nonce: string;
  /** Path in front of every link: empty on the host of an instance. */
  prefix: string;
  redirectUri: string;
  offer: Offer;
  seal: FormSeal;
  email: string;
  /** In the language of the page. */
  problem: string | undefined;
}

interface SignUpView extends SignInView {
  name: string;
  lengthMin: number;
}

export function signInPage(view: SignInView): string {
  const { face, nonce, offer, problem } = view;
  const say = sayFor(face);
  const isEmpty = offer.providers.length === 0 && !offer.email && offer.current === undefined;
  const body = markup`${problemBox(problem)}${isEmpty && markup`<p>${say("nothing_offered")}</p>`}
${current(view)}${ways(view)}${offer.email && markup`${offer.providers.length > 0 && or(view)}${passwordForm(view)}`}
${offer.signUp && foot(say("no_account"), link(view, "/sign-up"), say("sign_up"))}`;
  return frame({ face, heading: say("sign_in_to", { title: face.title }), body, nonce });
}

export function signUpPage(view: SignUpView): string {
  const { face, nonce, offer, problem } = view;
  const say = sayFor(face);
  const body = markup`${problemBox(problem)}${ways(view)}
${offer.signUp && markup`${offer.providers.length > 0 && or(view)}${signUpForm(view)}`}
${foot(say("have_account"), link(view, "/sign-in"), say("sign_in"))}`;
  return frame({ face, heading: say("sign_up_to", { title: face.title }), body, nonce });
}

function current(view: SignInView): Html | undefined {
  const { face, prefix, redirectUri, offer, seal } = view;
  if (offer.current === undefined) return undefined;
  const say = sayFor(face);
  const { name, email } = offer.current;
  return markup`<form method="post" action="${prefix}/continue">
${sealed(seal)}${hidden({ redirect_uri: redirectUri })} ${mainButton(say("continue_as", { name }))}
<p class="hint">${email}</p>
</form>
<div class="or">${say("other_account")}</div>`;
}

/** Links, not forms: this page's policy does not cover where a provider sends the browser. */
function ways(view: SignInView): Html | undefined {
  const { face, offer } = view;
  if (offer.providers.length === 0) return undefined;
  const say = sayFor(face);
  const items = offer.providers.map(({ name, label }) => {
    const href = link(view, "/oauth/authorize", { provider: name });
    const text = say("continue_with", { provider: label });
    return markup`<li>
<a class="button" href="${href}">${providerIcon(name)}<span>${text}</span></a>
</li>`;
  });
  return markup`<ul class="ways">
${items}
</ul>`;
}

function or({ face }: SignInView): Html {
  return markup`<div class="or">${sayFor(face)("or")}</div>`;
}

function passwordForm(view: SignInView): Html {
  const { face, prefix, redirectUri, seal, email, problem } = view;
  const say = sayFor(face);
  const isWrong = problem !== undefined;
  const forgot = markup`<a href="${link(view, "/forgot")}">${say("forgot")}</a>`;
  return markup`<form method="post" action="${prefix}/sign-in">
${sealed(seal)}${hidden({ redirect_uri: redirectUri })}
${field({ name: "email", type: "email", label: say("email"), value: email, autocomplete: "username", isWrong })}
${field({ name: "password", type: "password", label: say("password"), aside: forgot, autocomplete: "current-password", maxLength: 1_024, isWrong })}
${mainButton(say("sign_in"))}
</form>`;
}

function signUpForm(view: SignUpView): Html {
  const { face, prefix, redirectUri, seal, email, name, lengthMin, problem } = view;
  const say = sayFor(face);
  const isWrong = problem !== undefined;
  const optional = markup`<span class="aside">${say("optional")}</span>`;
  const hint = say("password_hint", { count: lengthMin });
  return markup`<form method="post" action="${prefix}/sign-up">
${sealed(seal)}${hidden({ redirect_uri: redirectUri })}
${field({ name: "name", type: "text", label: say("name"), aside: optional, value: name, autocomplete: "name", required: false, maxLength: 200 })}
${field({ name: "email", type: "email", label: say("email"), value: email, autocomplete: "username", isWrong })}
${field({ name: "password", type: "password", label: say("password"), hint, autocomplete: "new-password", maxLength: 1_024, minLength: lengthMin, isWrong })}
${mainButton(say("sign_up"))}
</form>`;
}

function link({ prefix, redirectUri }: SignInView, path: string, more: Record<string, string> = {}): string {
  return `${prefix}${path}?${new URLSearchParams({ ...more, redirect_uri: redirectUri })}`;
}

function foot(text: string, href: string, label: string): Html {
  return markup`<p class="foot">${text} <a href="${href}">${label}</a></p>`;
}
