import { type Html, markup } from "../../core/html.ts";
import type { Offer } from "../../service/sign-in.ts";
import { field, type FormSeal, hidden, mainButton, problemBox, sealed } from "./form.ts";
import { type Face, frame, sayFor } from "./frame.ts";

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

/** Marks of the providers of docs/contract/identity.md, 1.3, and a key for all others. A text is beside each mark, so screen readers skip it. */
function providerIcon(name: string): Html {
  switch (name) {
    case "google":
      return icon(
        markup`<path
d="M12.48 10.92v3.28h7.84c-.24 1.84-.853 3.187-1.787 4.133-1.147 1.147-2.933 2.4-6.053 2.4-4.827 0-8.6-3.893-8.6-8.72s3.773-8.72 8.6-8.72c2.6 0 4.507 1.027 5.907 2.347l2.307-2.307C18.747 1.44 16.133 0 12.48 0 5.867 0 .307 5.387.307 12s5.56 12 12.173 12c3.573 0 6.267-1.173 8.373-3.36 2.16-2.16 2.84-5.213 2.84-7.667 0-.76-.053-1.467-.173-2.053H12.48z">`,
      );
    case "github":
      return icon(
        markup`<path
d="M12 .297c-6.63 0-12 5.373-12 12 0 5.303 3.438 9.8 8.205 11.385.6.113.82-.258.82-.577 0-.285-.01-1.04-.015-2.04-3.338.724-4.042-1.61-4.042-1.61C4.422 18.07 3.633 17.7 3.633 17.7c-1.087-.744.084-.729.084-.729 1.205.084 1.838 1.236 1.838 1.236 1.07 1.835 2.809 1.305 3.495.998.108-.776.417-1.305.76-1.605-2.665-.3-5.466-1.332-5.466-5.93 0-1.31.465-2.38 1.235-3.22-.135-.303-.54-1.523.105-3.176 0 0 1.005-.322 3.3 1.23.96-.267 1.98-.399 3-.405 1.02.006 2.04.138 3 .405 2.28-1.552 3.285-1.23 3.285-1.23.645 1.653.24 2.873.12 3.176.765.84 1.23 1.91 1.23 3.22 0 4.61-2.805 5.625-5.475 5.92.42.36.81 1.096.81 2.22 0 1.606-.015 2.896-.015 3.286 0 .315.21.69.825.57C20.565 22.092 24 17.592 24 12.297c0-6.627-5.373-12-12-12">`,
      );
    case "twitter":
      return icon(
        markup`<path
d="M18.244 2.25h3.308l-7.227 8.26 8.502 11.24H16.17l-5.214-6.817L4.99 21.75H1.68l7.73-8.835L1.254 2.25H8.08l4.713 6.231zm-1.161 17.52h1.833L7.084 4.126H5.117z">`,
      );
    default:
      return icon(
        markup`<path
d="M15 1.5a7.5 7.5 0 0 0-7.2 9.6L1.5 17.4v5.1h5.1v-3h3v-3h3l.6-.6A7.5 7.5 0 1 0 15 1.5zm2.25 3.75a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3z">`,
      );
  }
}

function icon(path: Html): Html {
  return markup`<svg viewBox="0 0 24 24" aria-hidden="true" focusable="false">${path}</svg>`;
}
