import { safetyProblems } from "../../../base/wire/json-safety.ts";
import { isFields } from "../../../base/pure/fields.ts";

/** What a plugin printed (docs/contract/orchestration.md, 4.11). */
export type Reply =
  | { type: "ok"; data: unknown }
  | { type: "error"; error: string }
  /** Text for people, blank lines at the end taken off. */
  | { type: "text"; text: string }
  /** What was meant as an envelope and is none. */
  | { type: "broken"; why: string };

/** A beginning that plain text does not have. */
const looksLikeEnvelope = /^\{\s*"(?:status|data|error)"\s*:/;

/**
 * Reads standard output: one JSON object with a `status` is an envelope, anything else plain text. Half an envelope,
 * or two of them, are distinguished from text.
 */
export function readReply(text: string, limits: { jsonDepthMax: number }): Reply {
  const trimmed = text.trim();
  const plain: Reply = { type: "text", text: text.replace(/[\r\n]+$/, "") };
  if (!trimmed.startsWith("{")) return plain;
  const value = parsed(trimmed);
  if (!isFields(value)) {
    if (!looksLikeEnvelope.test(trimmed)) return plain;
    return { type: "broken", why: "what it printed begins like an answer but is not one whole JSON object" };
  }
  const { status } = value;
  if (typeof status !== "string" || status === "") return plain;
  const unsafe = safetyProblems(value, "", limits.jsonDepthMax)[0];
  if (unsafe !== undefined) return { type: "broken", why: `its answer ${unsafe.path}: ${unsafe.message}` };
  if (status === "ok") return { type: "ok", data: value.data ?? undefined };
  if (status === "error") return { type: "error", error: errorText(value.error) };
  return { type: "broken", why: `its answer has status "${status.slice(0, 40)}"; ok and error are known` };
}

/** The error that a plugin wrote as the last line of standard error, and what it said before. */
export function stderrError(text: string): { error: string; before: string } | undefined {
  const trimmed = text.trimEnd();
  const start = trimmed.lastIndexOf("\n") + 1;
  const line = trimmed.slice(start).trim();
  if (!line.startsWith("{")) return undefined;
  const value = parsed(line);
  if (!isFields(value) || value.status !== "error" || typeof value.error !== "string") return undefined;
  return { error: value.error, before: trimmed.slice(0, start).trim() };
}

interface ErrorLines {
  push(line: string): void;
  /** Shows what waits, unless the answer says the same. */
  rest(answered?: string): void;
}

/**
 * Standard error as progress. An error envelope waits: where it is the last line of a command that fails, the answer has
 * its text, which would stand there twice.
 */
export function createErrorLines(onLine: (line: string) => void): ErrorLines {
  let held: string | undefined;
  const rest = (answered?: string) => {
    if (held !== undefined && stderrError(held)?.error !== answered) onLine(held);
    held = undefined;
  };
  return {
    push(line) {
      rest();
      if (stderrError(line) === undefined) onLine(line);
      else held = line;
    },
    rest,
  };
}

function errorText(error: unknown): string {
  return typeof error === "string" && error.trim() !== "" ? error.trim() : "it failed without saying why";
}

/** Undefined for what is not JSON, or nested too deeply for the parser. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a plugin answers beside actions is for the operator, also where it is not text. */
export function messageOf({ message, actions: _actions, again: _again, ...rest }: Record<string, unknown>): string {
  if (typeof message === "string") return message;
  const said = message === undefined || message === null ? rest : { message, ...rest };
  return Object.keys(said).length === 0 ? "" : JSON.stringify(said, null, 2);
}

const detailCharsMax = 2_000;

/** Why a command failed, in the order in which plugins say it: envelope, last line of stderr, stderr, stdout. */
export function failureText(reply: Reply, stderr: string): string {
  if (reply.type === "error") return reply.error;
  const told = stderrError(stderr);
  if (told !== undefined) return told.before === "" ? told.error : `${told.error}\n${lastPart(told.before)}`;
  if (stderr.trim() !== "") return lastPart(stderr.trim());
  if (reply.type === "text" && reply.text.trim() !== "") return lastPart(reply.text.trim());
  return reply.type === "broken" ? reply.why : "no output";
}

function lastPart(text: string): string {
  return text.length > detailCharsMax ? `…${text.slice(-detailCharsMax)}` : text;
}

/** `data` that was printed without an envelope: some plugins print only what `expand` is about. */
export function bareData(stdout: string): unknown {
  return parsed(stdout.trim());
}
