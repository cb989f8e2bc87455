import type { CoreKind, Spec } from "../api/manifest.ts";
import { containerKinds } from "../api/manifest.ts";
import { containerFieldsOf } from "./container-fields.ts";
import { fieldsOf, listOf, wordsOf } from "./lenient.ts";
import { childPath } from "../../base/pure/path.ts";

/** A string of a spec in which placeholders are filled, and where it stands. */
interface SpecText {
  value: string;
  path: string;
}

/** Those of image, command, volumes, env and inits that hold a placeholder; none in kinds without containers. */
export function textsOf({ kind, spec }: { kind: CoreKind; spec: Spec }): readonly SpecText[] {
  if (!containerKinds.some((one) => one === kind)) return [];
  const known = frozenTexts.get(spec);
  if (known?.kind === kind) return known.texts;
  const texts = findTexts(kind, spec);
  // A stored spec is asked several times in each apply and each look; what is not frozen may be another by then.
  if (Object.isFrozen(spec)) frozenTexts.set(spec, { kind, texts });
  return texts;
}

const frozenTexts = new WeakMap<Spec, { kind: CoreKind; texts: readonly SpecText[] }>();

function findTexts(kind: CoreKind, spec: Spec): SpecText[] {
  const { fields, path } = containerFieldsOf(kind, spec);
  return [
    ...programOf(fields, path),
    ...listed(fields.volumes, `${path}.volumes`),
    ...Object.entries(fieldsOf(fields.env)).flatMap(([key, value]) =>
      mayHoldPlaceholder(value) ? [{ value, path: childPath(`${path}.env`, key) }] : [],
    ),
    ...listOf(fields.inits).flatMap((init, index) => programOf(init, `${path}.inits[${index}]`)),
  ];
}

function programOf({ image, entrypoint, command }: Spec, path: string): SpecText[] {
  const commands = [...listed(entrypoint, `${path}.entrypoint`), ...listed(command, `${path}.command`)];
  return mayHoldPlaceholder(image) ? [{ value: image, path: `${path}.image` }, ...commands] : commands;
}

function listed(texts: unknown, path: string): SpecText[] {
  return wordsOf(texts).flatMap((value, index) =>
    mayHoldPlaceholder(value) ? [{ value, path: `${path}[${index}]` }] : [],
  );
}

function mayHoldPlaceholder(text: unknown): text is string {
  return typeof text === "string" && text.includes("${");
}
