import { canonicalJson } from "../base/pure/digest.ts";
import { isFields } from "../base/pure/fields.ts";
import type { Problem } from "../base/wire/failure.ts";
import type { CoreKind, Spec } from "../orchestration/api/manifest.ts";
import { ownsMachine, type Principal } from "./principal.ts";
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

/**
 * What held a container in that reaches the machine, and is left out now. Storing a folder of the machine for a
 * program without root does not store it for root.
 */
function loosened({ kind, stands, wanted }: { kind: CoreKind; stands: Spec; wanted: Spec }): Problem[] {
  const [before, after] = [confinementOf(kind, stands), confinementOf(kind, wanted)];
  if (!after.reaches) return [];
  const { at } = after;
  const network = before.isAlone && !after.isAlone ? [problem(`${at}.network_mode`, 'network_mode "none"')] : [];
  const own = missing(before.main, after.main).map((value) => problem(`${at}.docker_options`, value));
  const inits = after.inits.flatMap(({ name, options }, index) => {
    const was = before.inits.find((init) => init.name === name);
    const left = missing(was?.options ?? before.main, options ?? after.main);
    // Where it has no list of its own it has that of the container, which is reported already.
    return options === undefined ? [] : left.map((value) => problem(`${at}.inits[${index}].docker_options`, value));
  });
  return [...network, ...own, ...inits];
}

interface Confinement {
  /** Path of the container. */
  at: string;
  /** Whether something of it reaches the machine, beside what only holds it in. */
  reaches: boolean;
  /** It has no network. */
  isAlone: boolean;
  main: readonly string[];
  /** An init without a list of its own has that of the container. */
  inits: readonly { name: unknown; options: readonly string[] | undefined }[];
}

function confinementOf(kind: CoreKind, spec: Spec): Confinement {
  const at = kind === "cronjob" ? "spec.job" : "spec";
  const container = kind === "cronjob" ? (isFields(spec.job) ? spec.job : {}) : spec;
  const found = reachOf({ kind, spec });
  const optionsAt = (path: string) => found.filter((one) => one.confines === true && one.path === path).map(textIn);
  const inits = Array.isArray(container.inits) ? container.inits.filter(isFields) : [];
  return {
    at,
    reaches: found.some(({ confines }) => confines !== true),
    isAlone: container.network_mode === "none",
    main: optionsAt(`${at}.docker_options`),
    inits: inits.map(({ name, docker_options: own }, index) => ({
      name,
      options: Array.isArray(own) ? optionsAt(`${at}.inits[${index}].docker_options`) : undefined,
    })),
  };
}

function textIn({ value }: Reach): string {
  return value;
}

function missing(before: readonly string[], after: readonly string[]): string[] {
  return before.filter((value) => !after.includes(value));
}

function problem(path: string, value: string): Problem {
  return { path, message: `"${value}" holds a container in that reaches the machine, and is left out` };
}
