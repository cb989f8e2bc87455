import { isFields } from "../../../base/pure/fields.ts";
import type { Lose } from "./lose.ts";
import { optionReaders } from "./options.ts";
import { isScalar, sizeText } from "./text.ts";

interface Deploying {
  spec: Record<string, unknown>;
  options: string[];
  lose: Lose;
}

/** Sets one of `resources.limits`. */
export function limit(spec: Record<string, unknown>, field: "cpu" | "memory", value: string): void {
  const resources = isFields(spec.resources) ? spec.resources : {};
  const limits = isFields(resources.limits) ? resources.limits : {};
  spec.resources = { ...resources, limits: { ...limits, [field]: value } };
}

/** `deploy` of a service: how many, with which limits. */
export function deployOf(value: unknown, path: string, service: Deploying): void {
  const { spec, lose } = service;
  if (!isFields(value)) {
    lose(path, "is not a map: left out");
    return;
  }
  const { replicas, resources, restart_policy: restart, update_config: update } = value;
  // Everything else is about several machines.
  if (replicas !== undefined) spec.replicas = replicas;
  if (isFields(resources)) readResources(resources, `${path}.resources`, service);
  if (isFields(restart)) readRestart(restart, service);
  // Compose stops the old container first where nothing is written; here the new one starts first.
  if (isFields(update) && update.order === "stop-first") spec.rollout = { strategy: "recreate" };
}

function readResources(fields: Record<string, unknown>, path: string, { spec, options, lose }: Deploying): void {
  const { limits, reservations, ...more } = fields;
  for (const field of Object.keys(more)) lose(`${path}.${field}`, "has no counterpart");
  if (isFields(reservations) && reservations.devices !== undefined) {
    lose(`${path}.reservations.devices`, "has no counterpart: containers get no GPU");
  }
  if (isFields(reservations) && reservations.memory !== undefined) {
    optionReaders.mem_reservation?.(reservations.memory, `${path}.reservations.memory`, { spec, options, lose });
  }
  if (!isFields(limits)) return;
  const { cpus, memory, pids, ...others } = limits;
  for (const field of Object.keys(others)) lose(`${path}.limits.${field}`, "has no counterpart");
  if (isScalar(cpus)) limit(spec, "cpu", String(cpus));
  if (isScalar(pids)) options.push(`--pids-limit=${pids}`);
  if (memory === undefined) return;
  const size = sizeText(memory);
  if (size === undefined) lose(`${path}.limits.memory`, "is not a size: left out");
  else limit(spec, "memory", size);
}

function readRestart(fields: Record<string, unknown>, { spec }: Deploying): void {
  const { condition = "any", max_attempts: attempts } = fields;
  if (condition === "none") spec.restart = "no";
  else if (condition === "on-failure") spec.restart = isScalar(attempts) ? `on-failure:${attempts}` : "on-failure";
  else spec.restart = "always";
}
