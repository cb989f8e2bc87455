import type { TObject } from "@sinclair/typebox";
import type { Problem } from "../../../base/wire/failure.ts";
import { type CoreKind, coreKinds, formatKey } from "../../api/manifest.ts";
import {
  ApplyManifest,
  type ActionType,
  actionTypes,
  ConfigSet,
  ConfigUnset,
  DeleteManifest,
  ExecLocal,
  FetchFile,
  RunJobAction,
} from "../../api/plugins/action.ts";
import type { CoreDraft } from "../draft.ts";
import { nameOk, scopeOk } from "../identity.ts";
import { parseKind } from "../kind.ts";
import type { ValidationLimits } from "../rules/rule.ts";
import { schemaCheck } from "../../../base/wire/schema-check.ts";
import { decodeHandedOn } from "./unknown-fields.ts";
import { didYouMean } from "../../../base/pure/suggest.ts";
import { isFields } from "../../../base/pure/fields.ts";

/** What one action asks for, checked. `label` is its line in `applied`. */
export type PlannedAction = { label: string } & (
  | { type: "config_set" | "config_unset"; scope: string; name: string; vars: Record<string, string>; restart: boolean }
  | { type: "apply_manifest"; draft: CoreDraft; path: string }
  | { type: "delete_manifest"; kind: CoreKind; scope: string; name: string }
  | { type: "run_job"; scope: string; name: string }
  | { type: "exec_local"; command: string[] }
  | { type: "fetch_file"; remote_path: string; dest_path: string; size_bytes: number | undefined }
);

export interface ActionLimits extends ValidationLimits {
  actionsMax: number;
}

interface DecodedActions {
  actions: PlannedAction[];
  /** Nothing of a list with problems may be carried out. */
  problems: Problem[];
  /** See `decodeHandedOn`. */
  leftOut: string[];
}

const checks: Record<ActionType, ReturnType<typeof schemaCheck<TObject>>> = {
  config_set: schemaCheck<TObject>(ConfigSet),
  config_unset: schemaCheck<TObject>(ConfigUnset),
  apply_manifest: schemaCheck<TObject>(ApplyManifest),
  delete_manifest: schemaCheck<TObject>(DeleteManifest),
  run_job: schemaCheck<TObject>(RunJobAction),
  exec_local: schemaCheck<TObject>(ExecLocal),
  fetch_file: schemaCheck<TObject>(FetchFile),
};

/** The actions of an answer, all of them checked before the first is carried out. Null and nothing count as an empty list. */
export function decodeActions(value: unknown, limits: ActionLimits): DecodedActions {
  if (value === undefined || value === null) return { actions: [], problems: [], leftOut: [] };
  if (!Array.isArray(value)) return refused("actions", `expected a list, got ${typeof value}`);
  if (value.length > limits.actionsMax) {
    return refused("actions", `${value.length} of them; at most ${limits.actionsMax} are allowed`);
  }
  const problems: Problem[] = [];
  const leftOut: string[] = [];
  const actions = value.flatMap((item, index) =>
    decodeOne(item, { path: `actions[${index}]`, limits, problems, leftOut }),
  );
  return { actions, problems: problems.slice(0, limits.problemsShownMax), leftOut };
}

interface Place {
  path: string;
  limits: ActionLimits;
  problems: Problem[];
  leftOut: string[];
}

function decodeOne(item: unknown, place: Place): PlannedAction[] {
  const { path, limits, problems } = place;
  if (!isFields(item)) return fault(problems, path, "expected an object");
  const type = actionTypes.find((known) => known === item.type);
  if (type === undefined) return fault(problems, `${path}.type`, unknownType(item.type));
  const given = withoutNulls(item);
  const check = checks[type];
  if (!check.matches(given)) {
    problems.push(...check.problems(given, path, limits.problemsShownMax));
    return [];
  }
  const before = problems.length;
  const action = plan(type, given, place);
  return problems.length > before || action === undefined ? [] : [action];
}

/** Plugins in Go write null where they have nothing. */
export function withoutNulls(item: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null));
}

function unknownType(type: unknown): string {
  if (typeof type !== "string") return `is required; one of ${actionTypes.join(", ")}`;
  return `"${type.slice(0, 80)}" is not an action${didYouMean(type, actionTypes)}; known are ${actionTypes.join(", ")}`;
}

/** The fields of every type, each of the type that the schema of the action has already checked. */
interface GivenFields {
  scope?: string;
  name?: string;
  kind?: string;
  kv?: Record<string, string>;
  keys?: string[];
  skip_restart?: boolean;
  summary?: string;
  manifest?: unknown;
  command?: string[];
  remote_path?: string;
  dest_path?: string;
  size_bytes?: number;
}

function plan(type: ActionType, item: Record<string, unknown>, place: Place): PlannedAction | undefined {
  const given: GivenFields = item;
  const { scope = "", name = "", summary } = given;
  const label = summary?.trim() ? summary.trim() : `${type} ${scope}/${name}`;
  switch (type) {
    case "config_set":
    case "config_unset": {
      const vars = type === "config_set" ? (given.kv ?? {}) : unset(given);
      if (Object.keys(vars).length === 0) return void fault(place.problems, place.path, "names no key");
      checkTarget(scope, name, place);
      return { type, scope, name, vars, restart: given.skip_restart !== true, label };
    }
    case "apply_manifest":
      return applied(given, place);
    case "delete_manifest":
      return deleted(given, place);
    case "run_job":
      checkTarget(scope, name, place);
      return { type, scope, name, label };
    case "exec_local":
      return { type, command: given.command ?? [], label: summary?.trim() || type };
    case "fetch_file": {
      const { remote_path = "", dest_path = "", size_bytes } = given;
      if (remote_path === "" || dest_path === "") {
        return void fault(place.problems, place.path, "remote_path and dest_path are required");
      }
      return { type, remote_path, dest_path, size_bytes, label: summary?.trim() || type };
    }
  }
}

/** `keys`, or the keys of `kv`: plugins write both. */
function unset({ keys, kv }: GivenFields): Record<string, string> {
  return Object.fromEntries((keys ?? Object.keys(kv ?? {})).map((key) => [key, ""]));
}

function applied(given: GivenFields, { path, limits, problems, leftOut }: Place): PlannedAction | undefined {
  const { decoded, leftOut: unknown } = decodeHandedOn(given.manifest, limits);
  leftOut.push(...unknown);
  for (const problem of decoded.problems) {
    const at = problem.path === "" ? `${path}.manifest` : `${path}.manifest.${problem.path}`;
    problems.push({ path: at, message: problem.message });
  }
  const [draft] = decoded.manifests;
  if (decoded.problems.length > 0 || draft === undefined) return undefined;
  if (draft.kind === "app") return void fault(problems, `${path}.manifest.kind`, coreOnly("app"));
  const label = given.summary?.trim() || `apply_manifest ${formatKey(draft)}`;
  return { type: "apply_manifest", draft: { ...draft, kind: draft.kind }, path: `${path}.manifest`, label };
}

function deleted(given: GivenFields, place: Place): PlannedAction | undefined {
  const { scope = "", name = "", kind: word = "" } = given;
  const kind = parseKind(word);
  if (kind === undefined || kind === "app") {
    return void fault(place.problems, `${place.path}.kind`, coreOnly(word.slice(0, 80)));
  }
  checkTarget(scope, name, place, kind);
  const label = given.summary?.trim() || `delete_manifest ${kind}/${scope === "" ? "" : `${scope}/`}${name}`;
  return { type: "delete_manifest", kind, scope, name, label };
}

function coreOnly(kind: string): string {
  return `"${kind}" is not a core kind; those are ${coreKinds.join(", ")}`;
}

function checkTarget(scope: string, name: string, { path, problems }: Place, kind?: CoreKind): void {
  const scopeless = kind === "registry" || (kind === "asset" && scope === "");
  if (!scopeless && !scopeOk(scope)) fault(problems, `${path}.scope`, `"${scope.slice(0, 80)}" is not a scope`);
  if (!nameOk(name)) fault(problems, `${path}.name`, `"${name.slice(0, 80)}" is not a name`);
}

function fault(problems: Problem[], path: string, message: string): [] {
  problems.push({ path, message });
  return [];
}

function refused(path: string, message: string): DecodedActions {
  return { actions: [], problems: [{ path, message }], leftOut: [] };
}
