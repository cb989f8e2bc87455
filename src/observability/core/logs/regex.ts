/** Longest part of a line that an expression looks at. */
const charactersMax = 4_096;
/** An expression that could look at less than this is refused. */
const charactersMin = 256;
/** Nothing ends an expression once it runs, so this is what one line may take: a second or two. */
const stepsMax = 1e8;

/**
 * How much of a line an expression may look at, so that the worst line takes a bounded time; undefined where that is too
 * little to be of use. `doubled`: how often its choices and optional parts double it.
 */
function charactersFor(source: string, doubled: number): number | undefined {
  const power = powerOf(source);
  const most = ((stepsMax * factorial(power)) / 2 ** doubled) ** (1 / power);
  return most < charactersMin ? undefined : Math.min(charactersMax, Math.floor(most));
}

const factorial = (count: number): number => (count < 2 ? 1 : count * factorial(count - 1));

/** With this power of the length of a line the time grows: a match may begin anywhere, and each repeat may end anywhere. */
function powerOf(source: string): number {
  const tokens = source.match(/\\(?:[pPu]\{[^}]*\}|.)|\[(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[\s\S]/g) ?? [];
  let free = 0;
  let scans = 0;
  tokens.forEach((token, at) => {
    if (!isRepeat(token)) return;
    let next = at + 1;
    while (tokens[next] === ")" || tokens[next] === "?") next += 1;
    if (next >= tokens.length) return;
    // Where the repeat cannot end in the middle of what it takes, it is gone through once.
    if (endsAlone(tokens[at - 1] ?? "", tokens[next] ?? "", tokens[next + 1] ?? "")) scans = 1;
    else free += 1;
  });
  const begins = source.startsWith("^") && !source.includes("|") ? 0 : 1;
  return Math.max(1, begins + free + scans);
}

const isRepeat = (token: string) => token === "*" || token === "+" || /^\{\d/.test(token);

/** Whether what has to follow a repeated character is never one that is repeated. */
function endsAlone(repeated: string, next: string, behind: string): boolean {
  if (/^(?:[*?]|\{0)/.test(behind) || [repeated, next].some((part) => !isPlain(part))) return false;
  const [one, other] = [repeated, next].map((part) => new RegExp(`^${part}$`, "i"));
  return !samples.some((letter) => one?.test(letter) === true && other?.test(letter) === true);
}

/** One character of ASCII, or a class of them: not a group, an anchor, or an escape that the samples do not cover. */
function isPlain(part: string): boolean {
  return (
    /^(?:\\[dDwWsS]|\\[^\w]|[^\\()|^$*+?[\]{}]|\[[\x20-\x7e]+\])$/.test(part) &&
    !/\\[bBcxuUpPk0-9]|[^\x20-\x7e]/.test(part)
  );
}

const samples = [...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)), "é", "中", "\u00a0"];

const sourceCharactersMax = 500;
const repeatsMax = 6;

/** Why a regular expression is refused; undefined where it can be run on every line. */
export function regexFault(source: string): string | undefined {
  if (source.length > sourceCharactersMax) return `is longer than ${sourceCharactersMax} characters`;
  if (/\\[1-9]|\\k</.test(source)) return "refers back to a group, which can take too long: leave that out";
  if (/\(\?<?[=!]/.test(source)) return "looks ahead or behind, which can take too long: leave that out";
  const shape = skeletonOf(source);
  if (repeatedGroup(shape)) return "repeats a group that itself has a choice or a repeat: write it without one of them";
  if (waysOf(shape) > repeatsMax) return `has more than ${repeatsMax} repeats, optional parts and choices in groups`;
  if (!compiles(source)) return "is not a regular expression: check its brackets and escapes";
  if (regexCharacters(source) !== undefined) return undefined;
  return "has repeats that can end in too many places: look for the words between them, or for several expressions";
}

/** How much of a line an expression looks at, so that its time is bounded. */
export function regexCharacters(source: string): number | undefined {
  const shape = skeletonOf(source).replaceAll("(?", "(");
  const optional = (shape.match(/[^*+?}]\?/g) ?? []).length;
  return charactersFor(
    source,
    alternativesOf(shape).reduce((sum, count) => sum + Math.log2(count), optional),
  );
}

/** Classes and code points of Unicode, which an expression without the flag takes for letters. */
const unicodeEscape = /\\[pPu]\{/;
/** Characters that a text has as two units. */
const twoUnits = /[\u{10000}-\u{10ffff}]/u;

/** The flags that an expression needs to mean what it says. */
export function regexFlags(source: string): "u" | "" {
  return unicodeEscape.test(source) || (twoUnits.test(source) && compiles(source, "u")) ? "u" : "";
}

function compiles(source: string, flags: "u" | "" = regexFlags(source)): boolean {
  try {
    new RegExp(source, flags);
    return true;
  } catch {
    return false;
  }
}

/** Without escapes and with each class as one letter: what is left is its structure. `[]` and `[^]` are whole classes. */
function skeletonOf(source: string): string {
  return source
    .replaceAll(/\\[pPu]\{[^}]*\}/g, "a")
    .replaceAll(/\\./g, "a")
    .replaceAll(/\[[^\]]*\]/g, "a");
}

/** Places where a match can go on in more than one way: each multiplies the time that a line without a match takes. */
function waysOf(shape: string): number {
  return (shape.replaceAll("(?", "(").match(/[*+?}]\??/g) ?? []).length + alternativesOf(shape).length;
}

/** How many alternatives each group with a choice has. */
function alternativesOf(shape: string): number[] {
  const open: number[] = [];
  const counts: number[] = [];
  for (const letter of shape) {
    if (letter === "(") open.push(1);
    else if (letter === ")") counts.push(open.pop() ?? 1);
    else if (letter === "|" && open.length > 0) open.push((open.pop() ?? 1) + 1);
  }
  return counts.filter((count) => count > 1);
}

/** A repeat of a group with a repeat or a choice in it: what makes an expression take exponential time. */
function repeatedGroup(shape: string): boolean {
  const inside: boolean[] = [];
  let risky = false;
  for (let at = 0; at < shape.length; at++) {
    const letter = shape[at] ?? "";
    if (letter === "(") {
      inside.push(risky);
      risky = false;
    } else if (letter === ")") {
      const repeats = /^(?:[*+]|\{\d+,?)/.test(shape.slice(at + 1));
      if (repeats && risky) return true;
      risky = risky || repeats || (inside.pop() ?? false);
    } else if (letter === "|" || letter === "*" || letter === "+" || letter === "{") risky = true;
    else if (letter === "?" && shape[at - 1] !== "(") risky = true;
  }
  return false;
}

const token = /\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[pPu]\{[^}]*\}|c[A-Za-z]|.)|\[(?:\\.|[^\]\\])*\]|\{[^}]*\}|[\s\S]/g;

/** The longest text that every line which matches has to contain; empty where there is none. */
export function literalOf(source: string): string {
  if (source.includes("|") || source.includes("(")) return "";
  const runs: string[] = [];
  let run = "";
  const close = () => {
    runs.push(run);
    run = "";
  };
  for (const [part] of source.matchAll(token)) {
    if (/^[*?{]/.test(part)) {
      run = run.slice(0, -1);
      close();
    } else if (/^\\[^\w\s]$/.test(part)) run += part.slice(1);
    else if (/^[\w\s:;,=<>@#%&~`'"!/-]$/.test(part)) run += part;
    else close();
  }
  close();
  return runs.reduce((best, one) => (one.length > best.length ? one : best), "");
}
