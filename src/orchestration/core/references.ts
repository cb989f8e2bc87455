import type { Problem } from "../../base/wire/failure.ts";
import { type CoreKind, formatKey, type Spec } from "../api/manifest.ts";
import type { Naming } from "./naming.ts";
import { placeholdersIn } from "./placeholders.ts";
import { reportsValues, type ReferencedManifest, reportedValue, reportedValues } from "./reported-values.ts";
import { textsOf } from "./spec-texts.ts";

/** A use of a value that another manifest of the same scope reports. */
interface ReferenceUse {
  /** As written, with the braces. */
  text: string;
  path: string;
  target: ReferenceTarget;
  field: string;
}

export interface ReferenceTarget {
  kind: CoreKind;
  scope: string;
  name: string;
}

/** The manifest under that identity; undefined where there is none. */
export type FindReferenced = (target: ReferenceTarget) => ReferencedManifest | undefined;

interface Owner {
  kind: CoreKind;
  scope: string;
  spec: Spec;
}

/** Every `${ref.…}` of a spec, in the order written. */
export function referenceUses(owner: Owner): ReferenceUse[] {
  return textsOf(owner).flatMap(({ value, path }) =>
    placeholdersIn(value).flatMap((found): ReferenceUse[] => {
      if (found.type !== "ref" || !reportsValues(found.kind)) return [];
      const target = { kind: found.kind, scope: owner.scope, name: found.name };
      return [{ text: found.text, path, target, field: found.field }];
    }),
  );
}

/** Uses of fields that a manifest which is there does not report. What is not there yet is waited for. */
export function referenceProblems(owner: Owner, lookup: FindReferenced, names: Naming): Problem[] {
  return referenceUses(owner).flatMap(({ text, path, target, field }): Problem[] => {
    const referenced = lookup(target);
    if (referenced === undefined || isAwaited(referenced)) return [];
    const known = Object.keys(reportedValues(referenced, names));
    if (known.includes(field)) return [];
    const has = known.length === 0 ? "reports no values" : `reports ${shortList(known)}`;
    return [{ path, message: `"${text}" has no value: ${formatKey(target)} ${has}` }];
  });
}

/** A statefulset has a name for each of its replicas. */
const fieldsShown = 8;

function shortList(fields: readonly string[]): string {
  const more = fields.length - fieldsShown;
  return more > 0 ? `${fields.slice(0, fieldsShown).join(", ")} and ${more} more` : fields.join(", ");
}

/** Uses of manifests that are not there: what reads them waits. */
export function absentReferences(owner: Owner, lookup: FindReferenced): ReferenceUse[] {
  return referenceUses(owner).filter(({ target }) => lookup(target) === undefined);
}

/** Why a use has no value now, for conditions and plans. */
export function unresolvedText(
  { text, target, field }: Omit<ReferenceUse, "path">,
  referenced?: ReferencedManifest,
): string {
  const at = formatKey(target);
  if (referenced === undefined) return `"${text}" has no value: ${at} is not applied; apply it, or write the value`;
  if (isAwaited(referenced)) return `"${text}" has no value yet: the content of ${at} is not here`;
  return `"${text}" has no value: ${at} reports no "${field}"`;
}

/** The uses of a target whose value is not what it was. */
export function movedUses(
  owner: Owner,
  { before, after, names }: { before: ReferencedManifest | undefined; after: ReferencedManifest; names: Naming },
): { use: ReferenceUse; lost: boolean }[] {
  return referenceUses(owner).flatMap((use) => {
    const { kind, scope, name } = use.target;
    if (kind !== after.kind || scope !== after.scope || name !== after.name) return [];
    const was = before === undefined ? undefined : reportedValue(before, use.field, names);
    const is = reportedValue(after, use.field, names);
    return was === is ? [] : [{ use, lost: is === undefined && !isAwaited(after) }];
  });
}

/** Its files are fetched: what it reports comes by itself. */
function isAwaited({ kind, digests }: ReferencedManifest): boolean {
  return kind === "asset" && digests === undefined;
}
