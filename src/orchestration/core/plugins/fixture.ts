import type { Problem } from "../../../base/wire/failure.ts";
import { childPath } from "../../../base/pure/path.ts";
import { type Fields, fieldReader } from "./fields.ts";
import { isFields } from "../../../base/pure/fields.ts";

/** One test of a plugin: a command, what it is given, and what it is to answer. */
export interface Fixture {
  command: string;
  args: string[];
  /** The object on standard input; what every command gets there is added. */
  stdin: Fields;
  env: Record<string, string>;
  /** What the controller answers, by `METHOD /path?query`. */
  controller: Fields;
  /** Programs that stand in for those of the machine: name → script. */
  programs: Record<string, string>;
  /** Absent until it is written with --update. */
  expect: Expected | undefined;
}

export interface Expected {
  exit: number;
  /** `data` of its envelope. */
  data?: unknown;
  message?: string;
  error?: string;
  /** Calls of the controller, in order. */
  calls?: string[];
}

/** The content of a test file, with every fault. */
export function readFixture(value: unknown): { fixture: Fixture; problems: Problem[] } {
  const problems: Problem[] = [];
  const read = fieldReader(value, "", problems);
  const command = read.text("command");
  if (command === undefined) problems.push({ path: "command", message: "is required" });
  const known = ["command", "args", "stdin", "env", "controller", "programs", "expect"];
  const unknown = Object.keys(isFields(value) ? value : {}).filter((key) => !known.includes(key));
  problems.push(...unknown.map((key) => ({ path: key, message: `unknown field; known are ${known.join(", ")}` })));
  const fixture = {
    command: command ?? "",
    args: read.words("args") ?? [],
    stdin: read.map("stdin") ?? {},
    env: read.texts("env") ?? {},
    controller: read.map("controller") ?? {},
    programs: read.texts("programs") ?? {},
    expect: readExpected(read.map("expect"), problems),
  };
  return { fixture, problems };
}

function readExpected(fields: Fields | undefined, problems: Problem[]): Expected | undefined {
  if (fields === undefined) return undefined;
  const read = fieldReader(fields, "expect", problems);
  const [message, error, calls] = [read.text("message"), read.text("error"), read.words("calls")];
  return {
    exit: read.whole("exit") ?? 0,
    ...("data" in fields ? { data: fields.data } : {}),
    ...(message === undefined ? {} : { message }),
    ...(error === undefined ? {} : { error }),
    ...(calls === undefined ? {} : { calls }),
  };
}

/** Stands for whatever comes: a generated password, a time. */
const anything = "<any>";

/** Where two values differ, at most `max` places, each with both sides. */
export function differences(expected: unknown, got: unknown, { path = "", max = 20 } = {}): string[] {
  if (expected === anything && got !== undefined) return [];
  const at = (key: string | number) => childPath(path, key);
  if (Array.isArray(expected) && Array.isArray(got)) {
    const length = Math.max(expected.length, got.length);
    return Array.from({ length }, (_, index) => index)
      .flatMap((index) => differences(expected[index], got[index], { path: at(index), max }))
      .slice(0, max);
  }
  if (isFields(expected) && isFields(got)) {
    const keys = [...new Set([...Object.keys(expected), ...Object.keys(got)])];
    return keys.flatMap((key) => differences(expected[key], got[key], { path: at(key), max })).slice(0, max);
  }
  if (Object.is(expected, got)) return [];
  return [`${path === "" ? "it" : path}: expected ${shown(expected)}, got ${shown(got)}`];
}

const shownMax = 200;

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}
