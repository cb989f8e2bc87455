import type { Release } from "../../orchestration/api/releases.ts";
import { fieldChanges, fieldName, valueText } from "./changes.ts";
import { printable } from "../basics/style.ts";

const fieldsShown = 4;

/** What a rollback changed back, with the values: `image "app:2" → "app:1", env.MODE`. Empty for other releases. */
export function takenBackText(release: Partial<Release>, before: Partial<Release> | undefined): string {
  return shortened(takenBackLines(release, before));
}

/** Like `takenBackText`, a text for each field. */
export function takenBackLines(release: Partial<Release>, before: Partial<Release> | undefined): string[] {
  const changes = fieldChanges(release.taken_back ?? [], before?.spec_snapshot, release.spec_snapshot);
  return changes.map(({ path, before: old, after }) => {
    const side = (value: unknown) => printable(valueText(path, value, false));
    return `${printable(path)} ${side(old)} → ${side(after)}`;
  });
}

/** The fields that a rollback changes back, without their values. */
export function takenBackFields(paths: readonly string[]): string {
  return shortened(paths.map((path) => printable(fieldName(path))));
}

function shortened(texts: readonly string[]): string {
  const more = texts.length - fieldsShown;
  return more > 0 ? `${texts.slice(0, fieldsShown).join(", ")} and ${more} more` : texts.join(", ");
}
