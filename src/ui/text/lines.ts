import type { Tone } from "./states.ts";

/** A line of a log as the list shows it. */
export interface ShownLine {
  /** Rises by one per line: the key of its row. */
  id: number;
  at?: number;
  replica: string;
  /** `shop/web`, where lines of several apps are shown. */
  app?: string;
  /** As the server reads it. */
  level?: string;
  text: string;
  /** Between lines of the app: a deploy, a gap. */
  mark?: boolean;
  /** As the server sent it. */
  source?: Source;
}

/** What is known of a line beside its text. */
interface Source {
  at: string;
  scope: string;
  name: string;
  pod: string;
  replica_id: string;
  release_id?: string | undefined;
  role?: string | undefined;
  stream: string;
  level: string;
  text: string;
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

/** How loud a line is: by the level that the server read in it, else by its words. */
export function lineTone({ level, text }: Pick<ShownLine, "level" | "text">): Tone | undefined {
  return level === undefined || level === "none" ? levelTone(text) : wordTone(level);
}

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

const fieldsMax = 40;

/** The fields of a line that is a JSON object. */
export function fieldsOf(text: string): [string, unknown][] {
  if (!text.startsWith("{")) return [];
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? Object.entries(value).slice(0, fieldsMax) : [];
  } catch {
    return [];
  }
}

const messageNames = ["msg", "message", "event"];
const levelNames = ["level", "lvl", "severity", "time", "timestamp", "ts", "@timestamp", "pid", "hostname"];

/** A line for people: of a JSON object its message, and then the fields that are not in a column of their own. */
export function readable(text: string): { message: string; fields: string } {
  const all = fieldsOf(text);
  const found = all.find(([name, value]) => messageNames.includes(name) && typeof value === "string");
  if (found === undefined) return { message: text, fields: "" };
  const others = all.filter(([name]) => name !== found[0] && !levelNames.includes(name));
  const texts = others.map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return { message: plainLine(String(found[1])), fields: plainLine(texts.join(" ")) };
}
