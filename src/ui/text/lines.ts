import type { Tone } from "./states.ts";

/** A line of a log as the list shows it. */
export interface ShownLine {
  /** Rises by one per line: the key of its row. */
  id: number;
  at?: number;
  replica: string;
  text: string;
  /** Between lines of the app: a deploy, a gap. */
  mark?: boolean;
}

const levels: readonly [RegExp, Tone][] = [
  [/^(?:fatal|panic|crit(?:ical)?|error|err|emerg|alert)$/i, "bad"],
  [/^warn(?:ing)?$/i, "warn"],
];

const inJson = /"(?:level|lvl|severity|log\.level)"\s*:\s*"?([A-Za-z]+|\d+)/;
const inText = /(?:^|[\s[(|=])(fatal|panic|crit(?:ical)?|error|err|warn(?:ing)?)(?=[\s\]:)|,]|$)/i;
/** As pino and bunyan number them. */
const numbered: readonly [number, Tone][] = [
  [50, "bad"],
  [40, "warn"],
];

/** How loud a line is, from the words that programs use; only the start of a line counts where it is plain text. */
export function levelTone(text: string): Tone | undefined {
  const json = inJson.exec(text)?.[1];
  if (json !== undefined) {
    const number = Number(json);
    return Number.isNaN(number) ? wordTone(json) : numbered.find(([from]) => number >= from)?.[1];
  }
  const word = inText.exec(text.slice(0, 80))?.[1];
  return word === undefined ? undefined : wordTone(word);
}

function wordTone(word: string): Tone | undefined {
  return levels.find(([pattern]) => pattern.test(word))?.[1];
}

// The escape sequences of terminals: colours, cursor moves, titles.
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;
const controls = /[\u0000-\u0008\u000b-\u001f\u007f\u0080-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Without what moves a cursor or turns the direction of writing: a line must not forge its neighbours. */
export function plainLine(text: string): string {
  return text.replaceAll(escapes, "").replaceAll("\t", "    ").replaceAll(controls, "�");
}

/** The pieces of a text, in turn outside and inside of what is looked for. */
export function pieces(text: string, wanted: string): string[] {
  if (wanted === "") return [text];
  const [whole, part] = [text.toLowerCase(), wanted.toLowerCase()];
  const found: string[] = [];
  let from = 0;
  for (let at = whole.indexOf(part); at !== -1; at = whole.indexOf(part, from)) {
    found.push(text.slice(from, at), text.slice(at, at + part.length));
    from = at + part.length;
  }
  return [...found, text.slice(from)];
}
