/** Keys and values of a pasted .env file, and the lines that are none. A later line wins. */
export function readEnvFile(text: string): { vars: Record<string, string>; faults: string[] } {
  const vars: Record<string, string> = {};
  const faults: string[] = [];
  const lines = text.split(/\r?\n/);
  for (let index = 0; index < lines.length; index++) {
    // A quoted value may go on in the next line: blanks at the end are its own.
    const line = lines[index]?.trimStart() ?? "";
    if (line === "" || line.startsWith("#")) continue;
    const found = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(\s*)(.*)$/s.exec(line);
    if (found === null) {
      faults.push(`line ${index + 1} is not KEY=VALUE`);
      continue;
    }
    const [, key = "", blanks = "", raw = ""] = found;
    const isComment = raw.startsWith("#") && (blanks !== "" || /^#(?:\s|$)/.test(raw));
    const { value, used } = isComment ? { value: "", used: 0 } : valueFrom(raw, lines.slice(index + 1));
    if (value === undefined) faults.push(`line ${index + 1}: the quote of ${key} does not end`);
    else {
      vars[key] = value;
      index += used;
    }
  }
  return { vars, faults };
}

/** A value in quotes may go on over lines; one without ends before a comment. */
function valueFrom(raw: string, following: readonly string[]): { value?: string; used: number } {
  const quote = raw.charAt(0);
  if (quote !== '"' && quote !== "'") return { value: raw.replace(/\s+#.*$/, "").trim(), used: 0 };
  let whole = raw;
  for (let used = 0; used <= following.length; used++) {
    const end = closing(whole, quote);
    if (end !== undefined) return { value: unquoted(whole.slice(1, end), quote), used };
    whole += `\n${following[used] ?? ""}`;
  }
  return { used: 0 };
}

function closing(text: string, quote: string): number | undefined {
  for (let at = 1; at < text.length; at++) {
    if (text[at] === "\\" && quote === '"') at++;
    else if (text[at] === quote) return at;
  }
  return undefined;
}

function unquoted(text: string, quote: string): string {
  if (quote === "'") return text;
  const escapes: Record<string, string> = { n: "\n", r: "\r", t: "\t" };
  return text.replaceAll(/\\([\s\S])/g, (_, char: string) => escapes[char] ?? char);
}
