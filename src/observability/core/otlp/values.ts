import type { OtlpPair, OtlpValue } from "./model.ts";

/** A value as JSON has it. */
export function plainValue(value: OtlpValue | undefined): unknown {
  if (value === undefined) return null;
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(plainValue);
  if (value.kvlistValue !== undefined) return plainFields(value.kvlistValue.values);
  const { stringValue, boolValue, intValue, doubleValue, bytesValue } = value;
  const number = intValue ?? doubleValue;
  return stringValue ?? boolValue ?? number ?? bytesValue ?? null;
}

export function plainFields(pairs: readonly OtlpPair[] | undefined): Record<string, unknown> {
  return Object.fromEntries((pairs ?? []).map(({ key = "", value }) => [key, plainValue(value)]));
}

/** A value as text: what a label holds. */
export function valueText(value: OtlpValue | undefined): string {
  const plain = plainValue(value);
  return typeof plain === "string" ? plain : JSON.stringify(plain);
}

export const msOfNanos = (nanos: number | undefined) => Math.floor((nanos ?? 0) / 1e6);
