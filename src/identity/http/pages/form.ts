import { type Html, markup } from "../../core/html.ts";

/** What every form carries along. */
export interface FormSeal {
  /** Proves that the form came from this browser. */
  token: string;
  /** Epoch seconds: tells a page that was open for long from a browser without cookies. */
  at: number;
}

export function hidden(values: Record<string, string | number>): Html[] {
  return Object.entries(values).map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`);
}

export function sealed({ token, at }: FormSeal): Html[] {
  return hidden({ csrf: token, at });
}

interface Field {
  name: string;
  type: "email" | "password" | "text";
  label: string;
  /** Beside the label: a link, or a word. */
  aside?: Html | undefined;
  hint?: string | undefined;
  value?: string;
  autocomplete: string;
  required?: boolean;
  maxLength?: number;
  minLength?: number;
  isWrong?: boolean;
  focus?: boolean;
}

export function field(options: Field): Html {
  const { name, type, label, aside, hint, value = "", autocomplete, required = true, isWrong = false } = options;
  const described = [isWrong ? "problem" : "", hint === undefined ? "" : `${name}-hint`].filter((id) => id !== "");
  return markup`<div class="field"><div class="row"><label for="${name}">${label}</label>${aside}</div>
<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}"
maxlength="${options.maxLength ?? 254}"${options.minLength !== undefined && markup` minlength="${options.minLength}"`}
${required && markup` required`}${isWrong && markup` aria-invalid="true"`}${options.focus === true && markup` autofocus`}
${described.length > 0 && markup` aria-describedby="${described.join(" ")}"`}
${type === "email" && markup` autocapitalize="none" spellcheck="false"`}>
${hint !== undefined && markup`<span class="hint" id="${name}-hint">${hint}</span>`}</div>`;
}

export function problemBox(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : markup`<p class="problem" id="problem" role="alert">${text}</p>`;
}

export function mainButton(text: string): Html {
  return markup`<button class="button main" type="submit">${text}</button>`;
}
