import type { CoreKind, Spec } from "../api/manifest.ts";
import { containerKinds } from "../api/manifest.ts";
import { containerFieldsOf } from "./container-fields.ts";
import { listOf, textMapOf, textOf, wordsOf } from "./lenient.ts";
import { childPath } from "./path.ts";

/** A string of a spec in which placeholders are filled, and where it stands. */
export interface SpecText {
  value: string;
  path: string;
}

/** Image, command, volumes, env and inits of a kind with containers; empty for other kinds. */
export function textsOf({ kind, spec }: { kind: CoreKind; spec: Spec }): SpecText[] {
  if (!containerKinds.some((one) => one === kind)) return [];
  const { fields, path } = containerFieldsOf(kind, spec);
  return [
    ...programOf(fields, path),
    ...wordsOf(fields.volumes).map((value, index) => ({ value, path: `${path}.volumes[${index}]` })),
    ...Object.entries(textMapOf(fields.env)).map(([key, value]) => ({ value, path: childPath(`${path}.env`, key) })),
    ...listOf(fields.inits).flatMap((init, index) => programOf(init, `${path}.inits[${index}]`)),
  ];
}

function programOf(owner: Spec, path: string): SpecText[] {
  const image = textOf(owner.image);
  const command = wordsOf(owner.command).map((value, index) => ({ value, path: `${path}.command[${index}]` }));
  return image === undefined ? command : [{ value: image, path: `${path}.image` }, ...command];
}
