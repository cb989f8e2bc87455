import { expect, test } from "bun:test";
import type { WritableKind } from "../../../../src/orchestration/api/kinds/schemas.ts";
import { limits } from "../../../../src/config/config.ts";
import { validateSpec } from "../../../../src/orchestration/core/validate.ts";

export const asset = (ref: string) => `\${asset.${ref}}`;

export function check(kind: WritableKind, spec: unknown): string[] {
  return validateSpec(kind, spec, limits).map(({ path, message }) => `${path}: ${message}`);
}

/** Each row: fields added to a spec that is fine, and the start of the one problem they cause. */
export type Row = [fields: object, expected: string];

export function refuses(kind: WritableKind, base: object, rows: Row[]): void {
  test(`${kind}: the base is fine`, () => {
    expect(check(kind, base)).toEqual([]);
  });
  test.each(rows)(`${kind} with %j`, (fields, expected) => {
    const found = check(kind, { ...base, ...fields });
    expect(found.join("\n")).toStartWith(expected);
    expect(found).toHaveLength(1);
  });
}

export const hook = { url: "https://hooks.test/x" };
