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
export function charactersFor(source: string, doubled: number): number | undefined {
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
