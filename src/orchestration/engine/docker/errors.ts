import { startWords } from "./start-words.ts";
import { Failure, type FailureCode, type FailureReason } from "../../../base/wire/failure.ts";

/** What was tried, for the message: `start` of `container "web.1"`. */
export interface Attempt {
  verb: string;
  subject: string;
}

interface EngineError {
  status: number | undefined;
  /** The engine's own words, or the system's when the engine was not reached. */
  words: string;
}

interface Rule {
  when: (error: EngineError, attempt: Attempt) => boolean;
  code: FailureCode;
  reason: FailureReason;
  /** The way out, added to the engine's words. */
  hint?: string;
  /** Another try would end the same. */
  lasting?: true;
  /** So would another try; another container made from the same starts. */
  anew?: true;
}

const says = (pattern: RegExp) => (error: EngineError) => pattern.test(error.words);
const cannotBegin =
  /executable file not found|exec format error|unable to start container process: exec: .*(?:no such file|permission denied|is a directory)|unable to find (?:user|group)|no matching entries in (?:passwd|group)/i;
const making = new Set(["create", "start"]);

/** First match wins. */
const rules: Rule[] = [
  // A proxy in front of the engine, or the engine while it goes down.
  { when: ({ status }) => status === 502 || status === 503, code: "unavailable", reason: "EngineUnavailable" },
  // Left by an engine that was killed while it started the container. The process does not run, and the engine's next lives
  // do not clear it away.
  {
    when: (error, { verb }) => verb === "start" && /\btask\b.*already exists/i.test(error.words),
    code: "unavailable",
    reason: "EngineUnavailable",
    anew: true,
  },
  // Seen when the engine was exchanged for another version while we ran; the next call negotiates again.
  { when: says(/client version .* is too (new|old)/i), code: "unavailable", reason: "EngineUnavailable" },
  {
    when: says(/port is already allocated|address already in use/i),
    code: "conflict",
    reason: "PortTaken",
    hint: "free the port or choose another",
  },
  { when: says(/name .* is already in use/i), code: "conflict", reason: "NameTaken" },
  {
    when: says(/bind source path does not exist/i),
    code: "conflict",
    reason: "MountMissing",
    hint: "put the file there or correct the path",
  },
  { when: says(/no space left on device/i), code: "conflict", reason: "DiskLow", hint: "free disk space" },
  {
    when: (error, { verb }) => verb === "create" && error.status === 404 && /no such image/i.test(error.words),
    code: "conflict",
    reason: "ImageMissing",
    hint: "pull it first",
  },
  {
    when: (error, { verb }) =>
      verb === "pull" && /unauthorized|basic auth|authentication required|denied/i.test(error.words),
    code: "conflict",
    reason: "RegistryAuth",
    hint: "check the name and the registry credentials",
  },
  { when: (_error, { verb }) => verb === "pull", code: "conflict", reason: "ImagePull" },
  {
    when: ({ status, words }) => status === 404 && /no such container/i.test(words),
    code: "not_found",
    reason: "Other",
  },
  {
    when: (error, { verb }) => making.has(verb) && /docker-init|init binary/i.test(error.words),
    code: "conflict",
    reason: "StartFailed",
    hint: `"init" needs a program of Docker's own: install docker-init on the server (in Debian it comes with docker.io), or write init: false`,
  },
  // No such command, not a program of this machine, no such user: the process can never begin.
  {
    when: (error, { verb }) => verb === "start" && cannotBegin.test(error.words),
    code: "conflict",
    reason: "StartFailed",
    hint: "correct command, entrypoint, user or image",
    lasting: true,
  },
  // A 404 while making something is about a part of it: a network, a device, a runtime.
  { when: (_error, { verb }) => making.has(verb), code: "conflict", reason: "StartFailed" },
  { when: ({ status }) => status === 404, code: "not_found", reason: "Other" },
];

/** Any error of a call to the engine as a `Failure`; a `Failure` passes, and so does a bug of ours, unchanged. */
export function engineFailure(error: unknown, attempt: Attempt): unknown {
  if (error instanceof Failure) return error;
  if (!(error instanceof Error)) return error;
  const status = statusOf(error);
  if (status !== undefined) return refusal({ status, words: wordsOf(error) }, attempt, error);
  // Node's network errors, and only they, carry a string code.
  return "code" in error && typeof error.code === "string" ? unreachable(error.message, error) : error;
}

/** A refusal known only by the engine's words: an error row in a progress stream. */
export function refusal({ status, words }: EngineError, attempt: Attempt, cause?: unknown): Failure {
  const rule = rules.find(({ when }) => when({ status, words }, attempt));
  const hint = rule?.hint === undefined ? "" : `; ${rule.hint}`;
  const message = `cannot ${attempt.verb} ${attempt.subject}: ${startWords(words)}${hint}`;
  const lasting = rule?.lasting === true;
  const anew = rule?.anew === true;
  const exitCode = /^(?:start|run)\b/.test(attempt.verb) ? shellCodeIn(words) : undefined;
  const fields = exitCode === undefined ? {} : { fields: { exit_code: exitCode } };
  return new Failure(rule?.code ?? "conflict", message, {
    reason: rule?.reason ?? "Other",
    lasting,
    anew,
    cause,
    ...fields,
  });
}

export function unreachable(words: string, cause?: unknown): Failure {
  const message = `docker cannot be reached (${words}); check that it runs and that its socket is readable`;
  return new Failure("unavailable", message, { reason: "EngineUnavailable", retryAfterSeconds: 2, cause });
}

export function timedOut({ verb, subject }: Attempt, afterMs: number): Failure {
  const message = `docker did not ${verb} ${subject} within ${afterMs / 1000} s; check that it is not overloaded`;
  return new Failure("timeout", message, { reason: "Timeout" });
}

export function missing(subject: string): Failure {
  return new Failure("not_found", `${subject} does not exist`);
}

/** HTTP status of an answer that dockerode made an error of. */
export function statusOf(error: unknown): number | undefined {
  const status = error instanceof Error && "statusCode" in error ? error.statusCode : undefined;
  return typeof status === "number" ? status : undefined;
}

/** For `catch`: an answer with one of these statuses is as good as success. */
export function unlessStatus(...fine: number[]): (error: unknown) => undefined {
  return (error) => {
    if (!fine.includes(statusOf(error) ?? 0)) throw error;
    return undefined;
  };
}

/** The host port that an engine's refusal names: `Bind for 0.0.0.0:80 failed`, `listen tcp4 0.0.0.0:80: …`, `host port for 0.0.0.0:80:172…`. */
export function portIn(words: string): number | undefined {
  const found = /(?:bind for|listen \w+|host port(?: for)?) (?:\[[^\]]*\]|[\d.]*|::):(\d+)/i.exec(words);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}

/** What a shell ends with for a program that is not there (127), and for one that it may not run (126). */
function shellCodeIn(words: string): number | undefined {
  if (/executable file not found|exec: .*no such file or directory/i.test(words)) return 127;
  return /exec: .*(?:permission denied|is a directory)|exec format error/i.test(words) ? 126 : undefined;
}

function wordsOf(error: Error): string {
  const body = "json" in error ? error.json : undefined;
  const said = typeof body === "object" && body !== null && "message" in body ? body.message : undefined;
  // Where it answers with a stream, dockerode has put the words into a sentence of its own.
  return oneLine(typeof said === "string" ? said : error.message.replace(/^\(HTTP code \d+\) [\w ]+ - /, ""));
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim().replace(/\.$/, "");
}
