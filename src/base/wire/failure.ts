import type { ErrorData, ErrorProblem, FailureFields } from "./envelope.ts";

/** Every expected error is one of these codes; the status each answers with stands beside it and nowhere else. */
export const failureStatus = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  too_many: 429,
  headers_too_large: 431,
  internal: 500,
  unavailable: 503,
  timeout: 504,
  storage_full: 507,
} as const;

export type FailureCode = keyof typeof failureStatus;

/** Why a container could not be brought up: shown as `reason` in conditions. */
const containerReasons = [
  "EngineUnavailable",
  "ImagePull",
  "ImageMissing",
  "RegistryAuth",
  "DiskLow",
  "PortTaken",
  "VolumeMissing",
  "VolumeForeign",
  "MountMissing",
  "NameTaken",
  "StartFailed",
  "InitFailed",
  "AssetUnavailable",
  "IngressFailing",
  "ReferenceUnresolved",
  "Timeout",
  "Other",
] as const;

/** Why a request was refused, where a program decides by it. `fields` of the failure has the values. */
const requestReasons = [
  "RevisionConflict",
  "UnknownKind",
  "NameIsScope",
  "PluginExited",
  "UnknownField",
  "BuildFailed",
  "BuildMissing",
  "BuildSecretMissing",
  "GitMissing",
  "ContextMissing",
  "ContextOffset",
  "Locked",
  "NothingMissing",
] as const;

/** The closed set of reasons of failures and problems: stable words for programs. */
export const failureReasons = [...containerReasons, ...requestReasons] as const;

export type FailureReason = (typeof failureReasons)[number];

interface FailureOptions {
  cause?: unknown;
  reason?: FailureReason;
  /** The values that the message tells, by name. */
  fields?: FailureFields;
  /** The faults that the message lists. */
  problems?: readonly Problem[];
  lasting?: boolean;
  anew?: boolean;
  retryAfterSeconds?: number;
}

/**
 * An expected error: thrown anywhere, answered by the boundary with `failureStatus[code]` and `message` in the
 * envelope, beside `code`, `reason`, `fields` and `problems`. `cause` is for the log only and is never shown to a
 * caller. Message text: lower case, names the thing and the way out, no final stop.
 */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly reason: FailureReason | undefined;
  readonly fields: FailureFields | undefined;
  readonly problems: readonly Problem[];
  /** Neither waiting nor another try fixes it. */
  readonly lasting: boolean;
  /** Trying again does not help; removing and recreating the container does. */
  readonly anew: boolean;
  /** Sent as `Retry-After` where the code is `unavailable` or `too_many`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "Failure";
    this.code = code;
    this.reason = options.reason;
    this.fields = options.fields;
    this.problems = options.problems ?? [];
    this.lasting = options.lasting === true;
    this.anew = options.anew === true;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** One fault found by pure code. `path` is dotted, array items in brackets: `spec.ports[0]`; empty for the whole. */
export interface Problem {
  path: string;
  message: string;
  reason?: FailureReason;
  /** The part of the request that `path` starts from; left out where that is the whole request. */
  place?: Place;
}

/** A part of a request that has a manifest of its own. */
export interface Place {
  /** Position of the manifest in the body, counted from 1. */
  manifest?: number;
  /** The body has several manifests, so that texts name the position. */
  numbered?: boolean;
  /** `kind/scope/name` of the block and of the manifest that it was expanded into, outermost first. */
  within?: readonly string[];
}

/** How a text about a place begins: `manifest 2: `; empty for the only manifest of a body. */
function placeText({ manifest, numbered, within = [] }: Place): string {
  const parts = [...(numbered === true ? [`manifest ${manifest}`] : []), ...within];
  return parts.map((part) => `${part}: `).join("");
}

/** The place of something inside another place. */
export function placeWithin(place: Place, ref: string): Place {
  return { ...place, within: [...(place.within ?? []), ref] };
}

/** `manifest 2: spec.ports[0]: out of range` */
export function problemText({ path, message, place }: Problem): string {
  return `${place === undefined ? "" : placeText(place)}${path === "" ? message : `${path}: ${message}`}`;
}

/** The same problems, found in the manifest at a place. */
export function problemsAt(place: Place, problems: readonly Problem[]): Problem[] {
  return problems.map((problem) => ({ ...problem, place }));
}

/** Problems as one `Failure`, each on a line of its own. */
export function problemsFailure(problems: readonly Problem[], code: FailureCode = "invalid"): Failure {
  return new Failure(code, problems.map(problemText).join("\n"), { problems });
}

/** One problem as a failure of its own. */
export function problemFailure(code: FailureCode, problem: Problem, options: FailureOptions = {}): Failure {
  return new Failure(code, problemText(problem), { problems: [problem], ...options });
}

/** What planes answer that take no compressed bodies. */
export function encodedBodyText(coding: string): string {
  return `Content-Encoding ${JSON.stringify(coding)} is not taken here, send the body as it is`;
}

/** The code that a status stands for; undefined for statuses that no failure has. */
export function codeOfStatus(status: number): FailureCode | undefined {
  return codes.get(status);
}

const codes: ReadonlyMap<number, FailureCode> = new Map(
  Object.entries(failureStatus).map(([code, status]) => [status, code as FailureCode]),
);

/** A failure as the envelope carries it. */
export function errorData({ code, reason, fields, problems }: Failure): ErrorData {
  return {
    code,
    ...(reason === undefined ? {} : { reason }),
    ...(fields === undefined ? {} : { fields }),
    ...(problems.length === 0 ? {} : { problems: problems.map(wireProblem) }),
  };
}

function wireProblem({ path, message, reason, place: { manifest, within } = {} }: Problem): ErrorProblem {
  return {
    ...(manifest === undefined ? {} : { manifest }),
    ...(within === undefined ? {} : { within }),
    path,
    message,
    ...(reason === undefined ? {} : { reason }),
  };
}

/** What may be shown of any error: a failure says it itself, and everything else is for the log alone. */
export function shownCause(error: unknown): string {
  return error instanceof Failure ? error.message : "an error of the server itself; its log says more";
}
