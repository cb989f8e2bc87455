import type { Fields } from "./fields.ts";

/** Fields of a statefulset that a block hands on as they are; the server validates them. */
export const passedOn = [
  "pull",
  "env_from",
  "network",
  "networks",
  "extra_hosts",
  "cap_add",
  "ulimits",
  "resources",
  "logs",
  "stop_grace",
  "on_probe",
  "depends_on",
  "rollout",
] as const;

/** Those that were written. */
export function passOn(fields: Fields): Record<string, unknown> {
  const written = passedOn.map((field): [string, unknown] => [field, fields.raw(field)]);
  return Object.fromEntries(written.filter(([, value]) => value !== undefined));
}
