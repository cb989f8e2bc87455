import { canonicalJson } from "../base/pure/digest.ts";
import { isFields } from "../base/pure/fields.ts";
import type { Problem } from "../base/wire/failure.ts";
import type { CoreKind, Spec } from "../orchestration/api/manifest.ts";
import { ownsMachine, type Principal } from "./principal.ts";
import { loosened } from "./loosened.ts";
import { type Reach, reachOf, reachOfBlock } from "./reach.ts";

/** One manifest as it is stored and as it is wanted. */
interface Change {
  kind: CoreKind;
  /** What is stored under its identity; undefined where nothing is. */
  stands: Spec | undefined;
  wanted: Spec;
  guard?: Guard | undefined;
}

/** A plugin makes the manifest, beside something that reaches the machine: what runs there is not the caller's to say. */
export interface Guard {
  /** What the plugin makes of a block that holds nothing of its caller; undefined where that is not known. */
  lent?: Spec | undefined;
}

/**
 * What of a change a principal may not make, each with its path. Without the machine's own rights nothing that reaches
 * the machine may come in; what stands unchanged at the same path stays, and so does what holds it in. Under a guard the
 * programs stay as well.
 */
export function allowed(principal: Principal, { kind, stands, wanted, guard }: Change): Problem[] {
  if (ownsMachine(principal)) return [];
  const reaching = reachOf({ kind, spec: wanted });
  if (guard === undefined) {
    const standing = stands === undefined ? [] : reachOf({ kind, spec: stands });
    const problems = news(reaching, () => standing).map(problemOf);
    return problems.length > 0 || stands === undefined ? problems : loosened({ kind, stands, wanted });
  }
  const models = [stands, guard.lent].filter((spec) => spec !== undefined);
  const program = programOf(kind, wanted);
  const open = models.map((spec) => news(reaching, () => reachOf({ kind, spec })));
  const isCovered = models.some((spec, index) => open[index]?.length === 0 && programOf(kind, spec) === program);
  if (isCovered) return [];
  const problems = (open.at(-1) ?? reaching).map(problemOf);
  return problems.length > 0 ? problems : [{ path: "spec", message: steered }];
}

const steered = "is another program than the plugin makes of itself, beside something that reaches the machine";

/** Like `allowed`, for the block of a plugin: what a plugin could take for the operator's own word. */
export function allowedBlock(
  principal: Principal,
  { stands, wanted }: { stands?: Spec | undefined; wanted: Spec },
): Problem[] {
  if (ownsMachine(principal)) return [];
  return news(reachOfBlock(wanted), () => reachOfBlock(stands ?? {})).map(problemOf);
}

function news(reaching: readonly Reach[], standing: () => readonly Reach[]): readonly Reach[] {
  if (reaching.length === 0) return [];
  const marks = new Set(standing().map(({ mark }) => mark));
  return reaching.filter(({ mark }) => !marks.has(mark));
}

/** How much and when of it runs, and what every caller may change by its config. */
const openFields: readonly string[] = [
  ...["env", "replicas", "resources", "logs", "stop_grace", "rollout", "autoscale", "wake", "idle_after"],
  ...["keep_releases", "timeout", "backoff_limit", "schedule", "timezone", "suspend", "concurrency_policy"],
  ...["starting_deadline", "successful_history_limit", "failed_history_limit", "telemetry", "_asset_digests"],
];

function programOf(kind: CoreKind, spec: Spec): string {
  if (kind === "ingress" || kind === "asset" || kind === "registry") return canonicalJson(spec);
  const { job, ...own } = spec;
  return canonicalJson({ ...closed(own), ...(isFields(job) ? { job: closed(job) } : {}) });
}

function closed(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !openFields.includes(field)));
}

function problemOf({ path, value, what }: Reach): Problem {
  return { path, message: `"${value.slice(0, shownMax)}" ${what}` };
}

const shownMax = 200;
