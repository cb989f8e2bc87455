import { isoTime, spanTimes } from "../../base/pure/iso-time.ts";
import { keyOf } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";

/** How a rollout ended. Times are epoch milliseconds. */
export interface DeployNews {
  outcome: "success" | "failure";
  /** Unknown where no release is about it: a restart, a change of config. */
  releaseId: string | undefined;
  image: string;
  startedAt: number;
  completedAt: number;
  /** Text of a failure. */
  error: string | undefined;
}

/** What became of one probe of one pod. */
export interface ProbeNews {
  transition: "failure" | "recovery";
  pod: string;
  image: string;
  probe: "startup" | "liveness" | "readiness";
  reason: string;
  /** 12 hex digits. */
  transitionId: string;
  /** Epoch milliseconds. */
  at: number;
}

/** What a webhook tells, by field name; also what `{{field}}` stands for in its headers and body. */
export type WebhookPayload = Record<string, string>;

/** Error texts may carry the output of a program. */
const errorCharsMax = 4_096;

/** Payload of `on_deploy` (docs/contract/orchestration.md, 5). */
export function deployPayload(key: ManifestKey, news: DeployNews): WebhookPayload {
  return present({
    ...keyOf(key),
    status: news.outcome,
    release_id: news.releaseId,
    image: news.image === "" ? undefined : news.image,
    started_at: isoTime(news.startedAt),
    completed_at: spanTimes(news.startedAt, news.completedAt).ended_at,
    error: news.error === undefined ? undefined : clip(news.error),
  });
}

/** Payload of `on_probe` (docs/contract/orchestration.md, 5). */
export function probePayload(key: ManifestKey, news: ProbeNews): WebhookPayload {
  const reason = clip(news.reason);
  return present({
    ...keyOf(key),
    status: news.transition,
    image: news.image === "" ? undefined : news.image,
    error: news.transition === "failure" ? reason : undefined,
    pod: news.pod,
    probe: news.probe,
    transition: news.transition,
    transition_id: news.transitionId,
    reason,
    timestamp: isoTime(news.at),
  });
}

function clip(text: string): string {
  return text.slice(0, errorCharsMax).toWellFormed();
}

function present(fields: Record<string, string | undefined>): WebhookPayload {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
