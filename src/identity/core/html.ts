/** Text that is HTML already: only `markup` makes it, so that nothing gets in unescaped. */
export interface Html {
  readonly html: string;
}

type Part = string | number | Html | undefined | false | readonly Html[];

/** `markup`<p>${text}</p>``: what is filled in is escaped, unless it is HTML of the same making. */
export function markup(texts: TemplateStringsArray, ...parts: Part[]): Html {
  const filled = texts.map((text, index) => `${text}${index < parts.length ? textOf(parts[index]) : ""}`);
  return { html: filled.join("") };
}

function textOf(part: Part): string {
  if (part === undefined || part === false) return "";
  if (typeof part === "string" || typeof part === "number") return escapeHtml(String(part));
  return "html" in part ? part.html : part.map((one) => one.html).join("");
}

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** For text and for attributes in quotes. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? "");
}
