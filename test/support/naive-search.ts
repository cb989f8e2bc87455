import { domainToUnicode } from "node:url";
import { searchedEmail } from "../../src/identity/core/email.ts";

/** The search grammar of docs/contract/identity.md, 3.3, in the plainest way: the tests compare the real one with it. */
export type NaiveRow = Record<string, string | number | null>;

const times = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}:\d{2}Z)?$/;

export function naiveSearch(rows: readonly NaiveRow[], query: string, columns: Record<string, string>): NaiveRow[] {
  const tokens = query.split(" ").flatMap((token) => readToken(token, columns) ?? []);
  if (tokens.length === 0) return [];
  return rows.filter((row) => {
    const alternatives = tokens.filter(({ negated, operator }) => !negated && operator === ":");
    const fields = new Set(alternatives.map(({ field }) => field));
    for (const field of fields) {
      if (!alternatives.some((token) => token.field === field && holds(row, token, columns))) return false;
    }
    return tokens
      .filter((token) => !alternatives.includes(token))
      .every((token) => holds(row, token, columns) !== token.negated);
  });
}

interface NaiveToken {
  negated: boolean;
  field: string;
  operator: string;
  value: string;
}

function readToken(text: string, columns: Record<string, string>): NaiveToken | undefined {
  const negated = text.startsWith("-");
  const rest = negated ? text.slice(1) : text;
  for (const operator of [">=", "<=", ">", "<", ":"]) {
    const at = rest.search(/[><:]/);
    if (at < 0 || !rest.startsWith(operator, at)) continue;
    const field = rest.slice(0, at);
    const value = rest.slice(at + operator.length);
    const isTime = columns[field] === "time";
    if (columns[field] === undefined || value === "" || (isTime && !times.test(value))) return undefined;
    const isCompared = field === "email" && operator !== ":";
    return { negated, field, operator, value: isCompared ? searchedEmail(value) : value };
  }
  return undefined;
}

function holds(row: NaiveRow, { field, operator, value }: NaiveToken, columns: Record<string, string>): boolean {
  const cell = row[field] ?? null;
  if (cell === null) return false;
  if (columns[field] === "time") {
    const at = Date.parse(value);
    const reach = value.length === 10 ? 86_400_000 : 1_000;
    return operator === ":" ? Number(cell) >= at && Number(cell) < at + reach : compare(Number(cell) - at, operator);
  }
  if (operator !== ":") return compare(Buffer.compare(Buffer.from(String(cell)), Buffer.from(value)), operator);
  const literals = [""];
  for (let at = 0; at < value.length; at++) {
    if (value[at] === "*") literals.push("");
    else {
      if (value[at] === "\\" && (value[at + 1] === "*" || value[at + 1] === "\\")) at++;
      literals.push(`${literals.pop()}${value[at]}`);
    }
  }
  const isEmail = field === "email";
  const [only = ""] = literals;
  if (literals.length === 1) return cell === (isEmail ? searchedEmail(only) : only);
  const parts = literals.map((part) => lower(isEmail ? part.normalize("NFC") : part));
  const escaped = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  const pattern = new RegExp(`^${escaped.join("[^]*")}$`, "u");
  const [name, domain = ""] = String(cell).split(/@(?=[^@]*$)/);
  const isReadToo = isEmail && /[^\x00-\x7f]/.test(value) && domain.startsWith("xn--");
  return pattern.test(lower(String(cell))) || (isReadToo && pattern.test(lower(`${name}@${domainToUnicode(domain)}`)));
}

function compare(difference: number, operator: string): boolean {
  if (difference === 0) return operator === ">=" || operator === "<=";
  return difference > 0 ? operator.startsWith(">") : operator.startsWith("<");
}

/** Letters that only turn into ASCII by losing what they are stay apart. */
function lower(text: string): string {
  return Array.from(text, (one) => (one > "\x7f" && /[a-z]/.test(one.toLowerCase()) ? one : one.toLowerCase())).join(
    "",
  );
}
