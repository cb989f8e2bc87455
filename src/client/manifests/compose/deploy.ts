import { isFields } from "../../../base/pure/fields.ts";
import { isScalar, type Lose, sizeText } from "./text.ts";

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
  const { replicas, mode, resources, restart_policy: restart, update_config: update, ...more } = value;
  for (const field of Object.keys(more)) lose(`${path}.${field}`, "has no counterpart");
  if (replicas !== undefined) spec.replicas = replicas;
  if (mode !== undefined && mode !== "replicated") lose(`${path}.mode`, `"${String(mode)}" has no counterpart`);
  if (isFields(resources)) readResources(resources, `${path}.resources`, service);
  if (isFields(restart)) readRestart(restart, `${path}.restart_policy`, service);
  if (isFields(update)) readUpdate(update, `${path}.update_config`, service);
}

function readResources(fields: Record<string, unknown>, path: string, { spec, options, lose }: Deploying): void {
  const { limits, reservations, ...more } = fields;
  for (const field of Object.keys(more)) lose(`${path}.${field}`, "has no counterpart");
  if (reservations !== undefined) lose(`${path}.reservations`, "has no counterpart: an app is given up to its limits");
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

function readRestart(fields: Record<string, unknown>, path: string, { spec, lose }: Deploying): void {
  const { condition = "any", max_attempts: attempts, ...more } = fields;
  for (const field of Object.keys(more))
    lose(`${path}.${field}`, "has no counterpart: the pause grows with each restart");
  if (condition === "none") spec.restart = "no";
  else if (condition === "on-failure") spec.restart = isScalar(attempts) ? `on-failure:${attempts}` : "on-failure";
  else {
    spec.restart = "always";
    if (attempts !== undefined) lose(`${path}.max_attempts`, "counts with on-failure only");
  }
}

function readUpdate(fields: Record<string, unknown>, path: string, { spec, lose }: Deploying): void {
  const { order, ...more } = fields;
  for (const field of Object.keys(more)) lose(`${path}.${field}`, "has no counterpart: see rollout");
  // Compose stops the old container first where nothing is written; here the new one starts first.
  if (order === "stop-first") spec.rollout = { strategy: "recreate" };
}
