import { cronjobDefaults, jobDefaults } from "../../api/kinds/defaults.ts";
import { parseDuration } from "../../../base/pure/duration.ts";
import { decodeContainer, type DecodedContainer } from "./container.ts";
import { type Fields, fieldsOf, integerOf, msOf, textMapOf, textOf } from "./lenient.ts";

/** How runs come and go; a job that no clock starts has the defaults of a cron job. */
interface RunRules {
  policy: "Allow" | "Forbid" | "Replace";
  /** How late a run may start. */
  startingDeadlineMs: number;
  /** How many ended runs stay; of a cron job its own limits count before those of the job inside. */
  history: { readonly succeeded: number; readonly failed: number };
}

export interface DecodedJob extends DecodedContainer, RunRules {
  kind: "job";
  /** Time limit of one try; undefined for no limit. */
  timeoutMs: number | undefined;
  /** Tries after the first one. */
  retries: number;
  labels: Readonly<Record<string, string>>;
}

export interface DecodedCronjob extends RunRules {
  kind: "cronjob";
  expression: string;
  timezone: string;
  suspended: boolean;
  job: DecodedJob;
}

const policies = ["Forbid", "Replace"] as const;

const startingDeadlineMs = parseDuration(cronjobDefaults.startingDeadline) ?? 0;

export function decodeJob(spec: Fields): DecodedJob {
  return {
    ...decodeContainer(spec),
    kind: "job",
    timeoutMs: msOf(spec.timeout),
    retries: integerOf(spec.backoff_limit) ?? jobDefaults.retries,
    labels: textMapOf(spec.labels),
    policy: cronjobDefaults.policy,
    startingDeadlineMs,
    history: historyOf(spec, { succeeded: jobDefaults.succeededKept, failed: jobDefaults.failedKept }),
  };
}

export function decodeCronjob(spec: Fields): DecodedCronjob {
  const job = decodeJob(fieldsOf(spec.job));
  return {
    kind: "cronjob",
    expression: textOf(spec.schedule) ?? "",
    timezone: textOf(spec.timezone) ?? cronjobDefaults.timezone,
    suspended: spec.suspend === true,
    policy: policies.find((policy) => policy === spec.concurrency_policy) ?? cronjobDefaults.policy,
    startingDeadlineMs: msOf(spec.starting_deadline) ?? startingDeadlineMs,
    history: historyOf(spec, job.history),
    job,
  };
}

function historyOf(spec: Fields, fallback: RunRules["history"]): RunRules["history"] {
  return {
    succeeded: integerOf(spec.successful_history_limit) ?? fallback.succeeded,
    failed: integerOf(spec.failed_history_limit) ?? fallback.failed,
  };
}
