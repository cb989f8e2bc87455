import type { CoreKind, Spec } from "../api/manifest.ts";
import { childPath } from "../../base/pure/path.ts";
import type { DecodedInit } from "./spec/container.ts";
import { containerOf } from "./spec/decode.ts";

/** A string of a spec in which placeholders are filled, and where it stands. */
interface SpecText {
  value: string;
  path: string;
}

/** Those of image, command, volumes, env and inits that hold a placeholder; none in kinds without containers. */
export function textsOf({ kind, spec }: { kind: CoreKind; spec: Spec }): readonly SpecText[] {
  const known = frozenTexts.get(spec);
  if (known?.kind === kind) return known.texts;
  const texts = findTexts(kind, spec);
  // A stored spec is asked several times in each apply and each look; what is not frozen may be another by then.
  if (Object.isFrozen(spec)) frozenTexts.set(spec, { kind, texts });
  return texts;
}

const frozenTexts = new WeakMap<Spec, { kind: CoreKind; texts: readonly SpecText[] }>();

function findTexts(kind: CoreKind, spec: Spec): SpecText[] {
  const found = containerOf(kind, spec);
  if (found === undefined) return [];
  const { container, path } = found;
  const volumes = container.volumes.map(({ text }) => text);
  const variables = Object.entries(container.env).filter(([, value]) => mayHoldPlaceholder(value));
  return [
    ...programOf(container, path),
    ...listed(volumes, `${path}.volumes`),
    ...variables.map(([key, value]) => ({ value, path: childPath(`${path}.env`, key) })),
    ...container.inits.flatMap((init, index) => programOf(init, `${path}.inits[${index}]`)),
  ];
}

type Program = Pick<DecodedInit, "image" | "command"> & { entrypoint?: readonly string[] };

function programOf({ image, entrypoint = [], command }: Program, path: string): SpecText[] {
  const commands = [...listed(entrypoint, `${path}.entrypoint`), ...listed(command, `${path}.command`)];
  return image !== undefined && mayHoldPlaceholder(image)
    ? [{ value: image, path: `${path}.image` }, ...commands]
    : commands;
}

function listed(texts: readonly string[], path: string): SpecText[] {
  return texts.flatMap((value, index) => (mayHoldPlaceholder(value) ? [{ value, path: `${path}[${index}]` }] : []));
}

/** Most texts hold none, and need no path. */
export function mayHoldPlaceholder(text: string): boolean {
  return text.includes("${");
}
