import type { Spec } from "../../api/manifest.ts";
import type { PlannedAction } from "./actions.ts";
import { isFields } from "../../../base/pure/fields.ts";

/** What stands in a plan where the plugin made a value up: the real apply will have another one. */
export const GENERATED = "(made up when it is applied)";

/** Shorter texts are not secrets, and hiding them would hide other things too. */
const lengthMin = 8;

/** Values that the actions of expansions would write into buckets and that were not there before. */
export function generatedTexts(
  blocks: readonly { config: Record<string, string>; ready: readonly PlannedAction[] }[],
): ReadonlySet<string> {
  const texts = blocks.flatMap(({ config, ready }) => {
    const known = new Set(Object.values(config));
    return ready
      .flatMap((action) => (action.type === "config_set" ? Object.values(action.vars) : []))
      .filter((text) => text.length >= lengthMin && !known.has(text));
  });
  return new Set(texts);
}

/** The spec with those texts hidden, wherever they stand alone. */
export function hideGenerated(spec: Spec, texts: ReadonlySet<string>): Spec {
  return texts.size === 0 ? spec : (hidden(spec, texts) as Spec);
}

function hidden(value: unknown, texts: ReadonlySet<string>): unknown {
  if (typeof value === "string") return texts.has(value) ? GENERATED : value;
  if (Array.isArray(value)) return value.map((item) => hidden(item, texts));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hidden(item, texts)]));
}
