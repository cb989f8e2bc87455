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
  unprocessable: 422,
  too_many: 429,
  headers_too_large: 431,
  internal: 500,
  unavailable: 503,
  timeout: 504,
  storage_full: 507,
} as const;

export type FailureCode = keyof typeof failureStatus;

/** Why a container could not be brought up: shown as `reason` in conditions, stable for scripts. */
export type FailureReason =
  | "EngineUnavailable"
  | "ImagePull"
  | "ImageMissing"
  | "RegistryAuth"
  | "DiskLow"
  | "PortTaken"
  | "VolumeMissing"
  | "VolumeForeign"
  | "MountMissing"
  | "NameTaken"
  | "StartFailed"
  | "InitFailed"
  | "AssetUnavailable"
  | "ReferenceUnresolved"
  | "Timeout"
  | "Other";

/**
 * An expected error: thrown anywhere, answered by the boundary with `failureStatus[code]` and `message` in the
 * envelope. `cause` is for the log only and is never shown to a caller. Message text: lower case, names the thing
 * and the way out, no final stop.
 */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly reason: FailureReason | undefined;
  /** Neither waiting nor another try mends it. */
  readonly lasting: boolean;
  /** Sent as `Retry-After` where the code is `unavailable` or `too_many`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: FailureCode,
    message: string,
    options: { cause?: unknown; reason?: FailureReason; lasting?: boolean; retryAfterSeconds?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "Failure";
    this.code = code;
    this.reason = options.reason;
    this.lasting = options.lasting === true;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** One fault found by pure code. `path` is dotted, array items in brackets: `spec.ports[0]`; empty for the whole. */
export interface Problem {
  path: string;
  message: string;
}

/** Problems as one `Failure("invalid")`, each on a line of its own. */
export function problemsFailure(problems: readonly Problem[]): Failure {
  const lines = problems.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return new Failure("invalid", lines.join("\n"));
}
