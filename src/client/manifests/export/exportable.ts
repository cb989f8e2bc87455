import { formatKey } from "../../../orchestration/api/manifest.ts";
import type { CoreDraft } from "../../../orchestration/core/draft.ts";

/** A manifest on its way to another platform. */
export interface Exportable extends CoreDraft {
  /** Says what does not carry over: the path starts at the manifest, as in `spec.ports[0]`. */
  lose: (path: string, message: string) => void;
}

export interface Loss {
  /** `kind/scope/name: spec.ports[0]`. */
  path: string;
  message: string;
}

/** Manifests with a list of their own for what is lost. */
export function exportables(drafts: readonly CoreDraft[], losses: Loss[]): Exportable[] {
  return drafts.map((draft) => ({
    ...draft,
    lose: (path, message) => losses.push({ path: `${formatKey(draft)}: ${path}`, message }),
  }));
}

/** Tells of every field that is neither in `read` nor of no effect elsewhere. */
export function loseOthers(
  { lose }: Pick<Exportable, "lose">,
  fields: Record<string, unknown>,
  { path, read, advice = {} }: { path: string; read: readonly string[]; advice?: Record<string, string> },
): void {
  for (const [name, value] of Object.entries(fields)) {
    if (read.includes(name) || name.startsWith("_") || isEmpty(value)) continue;
    lose(`${path}.${name}`, Object.hasOwn(advice, name) ? String(advice[name]) : "has no counterpart");
  }
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
