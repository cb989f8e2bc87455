import type { Problem } from "../../../base/wire/failure.ts";
import { podKinds, type Spec } from "../../api/manifest.ts";
import type { CoreDraft, PluginBlock } from "../draft.ts";
import { kindList, parseKind } from "../kind.ts";
import { type ActionLimits, decodeActions, type PlannedAction, withoutNulls } from "./actions.ts";
import { decodeHandedOn } from "./unknown-fields.ts";
import { isFields } from "../../../base/pure/fields.ts";

/** What `spec.plugin` of a block says: which plugin it wants. */
export interface BlockPin {
  version: string | undefined;
  repo: string | undefined;
}

/** The block as its plugin gets it, and what it asked of the server. */
interface PinnedBlock {
  spec: Spec;
  pin: BlockPin;
  problems: Problem[];
}

/** Takes `plugin` out of a block's spec: plugins pass on what they do not know. */
export function takePin(spec: Spec): PinnedBlock {
  const { plugin, ...rest } = spec;
  const none = { version: undefined, repo: undefined };
  if (plugin === undefined || plugin === null) return { spec: rest, pin: none, problems: [] };
  if (!isFields(plugin)) {
    return {
      spec: rest,
      pin: none,
      problems: [{ path: "spec.plugin", message: "expected object with version, repo" }],
    };
  }
  const problems: Problem[] = [];
  const text = (field: "version" | "repo") => {
    const value = plugin[field];
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value === "string") return value;
    problems.push({ path: `spec.plugin.${field}`, message: "expected string; put it in quotes" });
    return undefined;
  };
  return { spec: rest, pin: { version: text("version"), repo: text("repo") }, problems };
}

interface Expansion {
  manifests: CoreDraft[];
  actions: PlannedAction[];
  problems: Problem[];
  /** See `decodeHandedOn`. */
  leftOut: string[];
  /** What the plugin wants the operator to know. */
  warnings?: string[];
}

/**
 * `data` of an `expand`: a list of manifests, one manifest, or both manifests and actions. Only core kinds: what a
 * plugin returns is never expanded again. A manifest without a scope gets that of the block.
 */
export function readExpansion(data: unknown, block: PluginBlock, limits: ActionLimits): Expansion {
  const { list, actions } = shapeOf(data);
  if (list === undefined) {
    const message = "data is none of a list of manifests, one manifest, or an object with manifests and actions";
    return { manifests: [], actions: [], problems: [{ path: "", message }], leftOut: [] };
  }
  const planned = expandActions(actions, limits);
  if (list.length === 0) return { manifests: [], ...planned };
  const problems = list.flatMap((item, index) => kindProblems(item, `manifests[${index}]`));
  if (problems.length > 0) return { manifests: [], actions: [], problems, leftOut: [] };
  const { decoded, leftOut } = decodeHandedOn(
    list.map((item) => completed(item, block)),
    limits,
  );
  return {
    manifests: decoded.manifests.flatMap(({ kind, scope, name, spec }) => {
      return kind === "app" ? [] : [{ kind, scope, name, spec }];
    }),
    actions: planned.actions,
    problems: [...decoded.problems, ...planned.problems],
    leftOut: [...leftOut, ...planned.leftOut],
    warnings: warningsOf(data),
  };
}

/** An apply has no terminal of its own: what is for an operator's is refused instead of dropped. */
function expandActions(written: unknown, limits: ActionLimits): Omit<Expansion, "manifests"> {
  const { actions, problems, leftOut } = decodeActions(written, limits);
  const clients = actions.flatMap(({ type }, index) => {
    if (type !== "exec_local" && type !== "fetch_file") return [];
    const message = `"${type}" is for the operator's terminal: a command of the plugin can ask for it, expand cannot`;
    return [{ path: `actions[${index}]`, message }];
  });
  return { actions, problems: [...problems, ...clients], leftOut };
}

const warningsMax = 10;
const warningCharactersMax = 500;

function warningsOf(data: unknown): string[] {
  const written = isFields(data) && Array.isArray(data.warnings) ? data.warnings : [];
  const texts = written.filter((one): one is string => typeof one === "string");
  return texts.slice(0, warningsMax).map((text) => text.slice(0, warningCharactersMax));
}

function shapeOf(data: unknown): { list: unknown[] | undefined; actions: unknown } {
  if (Array.isArray(data)) return { list: data, actions: undefined };
  if (!isFields(data)) return { list: undefined, actions: undefined };
  if (!("manifests" in data)) return { list: "kind" in data ? [data] : undefined, actions: undefined };
  const { manifests, actions } = data;
  return { list: manifests === null ? [] : Array.isArray(manifests) ? manifests : undefined, actions };
}

function kindProblems(item: unknown, path: string): Problem[] {
  if (!isFields(item)) return [{ path, message: "expected a manifest" }];
  const kind = typeof item.kind === "string" ? parseKind(item.kind) : undefined;
  if (kind !== undefined && kind !== "app") return [];
  const shown = typeof item.kind === "string" ? `"${item.kind.slice(0, 80)}"` : "nothing";
  const message = `expected a core kind, got ${shown}; a plugin may return ${kindList()} without app, and no other block`;
  return [{ path: `${path}.kind`, message }];
}

/** With the scope of the block where it has none, and the block's `on_probe` where it can take one. */
function completed(item: unknown, block: PluginBlock): unknown {
  if (!isFields(item)) return item;
  const { metadata: _, ...manifest } = withoutNulls(item);
  const kind = typeof item.kind === "string" ? parseKind(item.kind) : undefined;
  const scope = manifest.scope ?? "";
  const scoped = scope === "" && kind !== "registry" ? { ...manifest, scope: block.scope } : manifest;
  const hooks = block.spec.on_probe;
  const takes = podKinds.some((one) => one === kind) && hooks !== undefined;
  if (!takes || (isFields(manifest.spec) && manifest.spec.on_probe !== undefined)) return scoped;
  return { ...scoped, spec: { ...(isFields(manifest.spec) ? manifest.spec : {}), on_probe: hooks } };
}
