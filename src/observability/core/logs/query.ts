import { Failure } from "../../../base/wire/failure.ts";
import { foldCase, isAscii } from "../../../base/pure/fold-case.ts";
import { compareNumbers, fieldsOf, fieldText } from "./fields.ts";
import { appKey, type FoundLine, type Level, levels, type LogApp, type LogStream, logStreams } from "./line.ts";
import { type Operator, type Term, termsOf } from "./query-words.ts";
import { createReading, type LineReading } from "./reading.ts";
import { literalOf, regexCharacters, regexFault, regexFlags } from "./regex.ts";

/** What a line has to be. Times are epoch milliseconds: `from` inclusive, `until` exclusive. */
export interface LogQuery {
  /** As in `termsOf`. */
  text?: string;
  /** Scopes and `scope/name`; empty: every app. */
  apps: readonly string[];
  /** Names of apps that the asking token may see. */
  mayReach?: (app: LogApp) => boolean;
  from?: number;
  until?: number;
  /** This level and above; lines without a level only at `none`. */
  level?: Level;
  replica?: string;
  release?: string;
  stream?: LogStream;
}

/** A query that is ready to be asked of blocks and lines. */
export interface CompiledQuery {
  from: number;
  until: number;
  /** Texts that every line of the answer contains as it reads, as far as that is known beforehand. */
  needles: Needle[];
  /** Whether time, level, stream and source decide alone. */
  byColumns: boolean;
  reaches(app: LogApp): boolean;
  /** By position in `levels` and `logStreams`. */
  levelFits: readonly boolean[];
  streamFits: readonly boolean[];
  sourceFits(source: { pod: string; replica: string; release: string; role: string }): boolean;
  /** Only what needs the text. */
  textFits(text: string): boolean;
}

export interface Needle {
  /** Folded where any case matches. */
  text: string;
  anyCase: boolean;
}

type SourceTest = (source: { pod: string; replica: string; release: string; role: string }) => boolean;
type TextTest = (line: LineReading) => boolean;

interface Building {
  apps: string[];
  notApps: string[];
  needles: Needle[];
  levelFits: boolean[];
  streamFits: boolean[];
  sources: SourceTest[];
  texts: TextTest[];
}

const termsMax = 20;

/** Fails `invalid` with the term that is wrong. */
export function compileQuery(query: LogQuery): CompiledQuery {
  const terms = termsOf(query.text ?? "");
  if (terms.length > termsMax) throw new Failure("invalid", `q: more than ${termsMax} terms`);
  const building: Building = {
    apps: [],
    notApps: [],
    needles: [],
    levelFits: levels.map((_, at) => at >= levels.indexOf(query.level ?? "none")),
    streamFits: logStreams.map((stream) => query.stream === undefined || stream === query.stream),
    sources: [],
    texts: [],
  };
  if (query.replica !== undefined) building.sources.push(({ replica }) => replica === query.replica);
  if (query.release !== undefined) building.sources.push(({ release }) => release === query.release);
  for (const term of terms) take(term, building);
  const { apps, notApps, sources, texts, ...rest } = building;
  return {
    ...rest,
    from: query.from ?? 0,
    until: query.until ?? Number.MAX_SAFE_INTEGER,
    byColumns: texts.length === 0,
    reaches: (app) =>
      (query.mayReach?.(app) ?? true) &&
      (query.apps.length === 0 || query.apps.some((word) => isApp(word, app))) &&
      apps.every((word) => isApp(word, app)) &&
      !notApps.some((word) => isApp(word, app)),
    sourceFits: (source) => sources.every((fits) => fits(source)),
    textFits(text) {
      const line = createReading(text);
      return texts.every((fits) => fits(line));
    },
  };
}

/** Whether one line is part of the answer: the meaning of a query, without any index. */
export function lineFits(query: CompiledQuery, line: FoundLine): boolean {
  return (
    line.at >= query.from &&
    line.at < query.until &&
    query.reaches(line.app) &&
    query.levelFits[levels.indexOf(line.level)] === true &&
    query.streamFits[logStreams.indexOf(line.stream)] === true &&
    query.sourceFits(line.source) &&
    query.textFits(line.text)
  );
}

function isApp(word: string, app: LogApp): boolean {
  return word === app.scope || word === appKey(app);
}

function take(term: Term, building: Building): void {
  if (term.kind === "text") takeText(term, building);
  else if (term.kind === "regex") takeRegex(term, building);
  else takeField(term, building);
}

function takeText({ text, negated }: Term & { kind: "text" }, building: Building): void {
  // As in many editors: capitals mean exactly these letters.
  const anyCase = !/\p{Lu}|\p{Lt}/u.test(text);
  const form = (of: string) => (anyCase ? foldCase(of) : of);
  const wanted = form(text.normalize("NFC"));
  const asWritten = form(text);
  // Who writes a backslash may have copied it from a line.
  const rawToo = text.includes("\\");
  const holds: TextTest = (line) =>
    (anyCase ? line.folded() : line.reading()).includes(wanted) || (rawToo && form(line.raw).includes(asWritten));
  building.texts.push(negated ? (line) => !holds(line) : holds);
  if (!negated && !rawToo && wanted !== "") building.needles.push({ text: wanted, anyCase });
}

function takeRegex({ source: written, anyCase, negated }: Term & { kind: "regex" }, building: Building): void {
  const source = written.normalize("NFC");
  const fault = regexFault(source);
  if (fault !== undefined) throw new Failure("invalid", `q: /${source}/ ${fault}`);
  const expression = new RegExp(source, `${regexFlags(source)}${anyCase ? "i" : ""}`);
  const characters = regexCharacters(source);
  const rawToo = source.includes("\\\\");
  const holds: TextTest = (line) =>
    expression.test(line.reading().slice(0, characters)) || (rawToo && expression.test(line.raw.slice(0, characters)));
  building.texts.push(negated ? (line) => !holds(line) : holds);
  const text = literalOf(source);
  if (!negated && !rawToo && text !== "" && isAscii(text))
    building.needles.push({ text: anyCase ? foldCase(text) : text, anyCase });
}

function takeField({ name, operator, value, negated }: Term & { kind: "field" }, building: Building): void {
  const isNot = negated !== (operator === "!=");
  const flip = (fits: boolean) => fits !== isNot;
  if (name === "level") takeLevel(operator, value, building, negated);
  else if (name === "app") {
    requireEqual(name, operator);
    (isNot ? building.notApps : building.apps).push(value);
  } else if (name === "stream") {
    requireEqual(name, operator);
    if (!logStreams.some((stream) => stream === value))
      throw new Failure("invalid", `q: unknown stream "${value}"; use ${logStreams.join(", ")}`);
    building.streamFits = building.streamFits.map((fits, at) => fits && flip(logStreams[at] === value));
  } else if (name === "replica" || name === "release" || name === "pod" || name === "role") {
    requireEqual(name, operator);
    building.sources.push((source) => flip(source[name] === value));
  } else takeValue({ path: name.replace(/^\./, ""), operator, value, isNot, negated }, building);
}

interface ValueTerm {
  path: string;
  operator: Operator;
  value: string;
  isNot: boolean;
  negated: boolean;
}

function takeValue({ path, operator, value, isNot, negated }: ValueTerm, building: Building): void {
  const isEqual = operator === "=" || operator === "!=";
  if (!isEqual && (value === "" || Number.isNaN(Number(value))))
    throw new Failure("invalid", `q: ${path}${operator}${value}: "${value}" is not a number`);
  building.texts.push(({ raw }) => {
    const fields = fieldsOf(raw);
    const text = fields === undefined ? undefined : fieldText(fields, path);
    if (isEqual) return (text === value) !== isNot;
    if (text === undefined || text === "" || Number.isNaN(Number(text))) return negated;
    return compares(compareNumbers(text, value), operator) !== negated;
  });
  // A number has several spellings in JSON: it does not help to find a block.
  if (!isEqual || isNot || !/^[A-Za-z][\w.:@ -]*$/.test(value)) return;
  if (!["true", "false", "null"].includes(value)) building.needles.push({ text: value, anyCase: false });
}

/** `order`: below 0 where the value is less than the wanted one, 0 where they are equal. */
function compares(order: number, operator: Operator): boolean {
  if (operator === ">=") return order >= 0;
  if (operator === "<=") return order <= 0;
  return operator === ">" ? order > 0 : order < 0;
}

function takeLevel(operator: Operator, value: string, building: Building, negated: boolean): void {
  const wanted = levels.indexOf(value as Level);
  if (wanted < 0) throw new Failure("invalid", `q: unknown level "${value}"; use ${levels.join(", ")}`);
  building.levelFits = building.levelFits.map((fits, at) => {
    const holds =
      operator === "=" ? at === wanted : operator === "!=" ? at !== wanted : compares(at - wanted, operator);
    return fits && holds !== negated;
  });
}

function requireEqual(name: string, operator: Operator): void {
  if (operator !== "=" && operator !== "!=")
    throw new Failure("invalid", `q: ${name}${operator} compares nothing; use ${name}=VALUE or ${name}!=VALUE`);
}
