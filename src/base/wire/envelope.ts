/** The envelope of every JSON answer (docs/contract/orchestration.md, 1.2). */
interface OkEnvelope<Data> {
  status: "ok";
  data?: Data;
}

/** What programs read of an error. The text of `error` is for people and may change. */
export interface ErrorData {
  /** A word for the status: `invalid`, `conflict`, `not_found`. */
  code?: string;
  /** Why, as a stable word: `RevisionConflict`. */
  reason?: string;
  /** The values that the text tells, by name. */
  fields?: FailureFields;
  /** The faults that the text lists. */
  problems?: ErrorProblem[];
}

export type FailureFields = Readonly<Record<string, string | number | boolean>>;

export interface ErrorProblem {
  /** Position of the manifest in the body, counted from 1. */
  manifest?: number;
  /** `kind/scope/name` of the block and of the manifest that it was expanded into, outermost first. */
  within?: readonly string[];
  /** Dotted, from the manifest or the body: `spec.ports[0]`; empty for the whole. */
  path: string;
  message: string;
  reason?: string;
}

export interface ErrorEnvelope extends ErrorData {
  status: "error";
  error: string;
}

export type Envelope<Data> = OkEnvelope<Data> | ErrorEnvelope;
