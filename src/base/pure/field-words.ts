import { closest } from "./suggest.ts";

/**
 * Words of other platforms and of plain English, and the fields that mean the same here, best first. A field may be a
 * path; it is suggested where its first part is known.
 */
const peers: Record<string, readonly string[]> = {
  args: ["command"],
  autoscaling: ["autoscale"],
  capabilities: ["cap_add"],
  claims: ["volume_claims"],
  cmd: ["command"],
  concurrency: ["concurrency_policy"],
  count: ["replicas"],
  cpu: ["resources.limits.cpu"],
  cpus: ["resources.limits.cpu"],
  cron: ["schedule"],
  deploy: ["rollout"],
  domain: ["host"],
  domains: ["host"],
  env_vars: ["env"],
  environment: ["env"],
  envs: ["env"],
  expose: ["ports"],
  fs_group: ["volume_owner"],
  health: ["health_check", "probes"],
  healthcheck: ["health_check", "probes"],
  init: ["inits"],
  init_containers: ["inits"],
  instances: ["replicas"],
  limits: ["resources.limits"],
  liveness: ["probes.liveness"],
  liveness_probe: ["probes.liveness"],
  logging: ["logs"],
  mem: ["resources.limits.memory"],
  mem_limit: ["resources.limits.memory"],
  memory: ["resources.limits.memory"],
  mounts: ["volumes"],
  namespace: ["scope"],
  port: ["ports"],
  owner: ["volume_owner"],
  publish: ["ports"],
  readiness: ["probes.readiness"],
  readiness_probe: ["probes.readiness"],
  release_command: ["release.command"],
  replica: ["replicas"],
  restart_policy: ["restart"],
  scale: ["replicas"],
  startup: ["probes.startup"],
  startup_probe: ["probes.startup"],
  stop_grace_period: ["stop_grace"],
  storage: ["volume_claims", "volumes"],
  strategy: ["rollout.strategy"],
  termination_grace_period_seconds: ["stop_grace"],
  update_config: ["rollout"],
  update_strategy: ["rollout.strategy"],
  user: ["docker_options"],
  vars: ["env"],
  variables: ["env"],
  volume: ["volumes"],
  volume_claim: ["volume_claims"],
  volume_claim_templates: ["volume_claims"],
  volume_mounts: ["volumes"],
  working_dir: ["docker_options"],
  workdir: ["docker_options"],
};

/** Shorter beginnings say nothing. */
const beginningMin = 3;

/** The field that an unknown one most likely meant; undefined where none is near, by letters or by meaning. */
export function meantField(word: string, known: readonly string[]): string | undefined {
  const plain = word
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase();
  if (known.includes(plain)) return plain;
  const meaning = new Map(
    Object.entries(peers).flatMap(([peer, fields]) => {
      const field = fields.find((one) => known.includes(one.split(".")[0] ?? one));
      return field === undefined ? [] : [[peer, field] as const];
    }),
  );
  const near = closest(plain, [...known, ...meaning.keys()]);
  const meant = meaning.get(plain) ?? (near === undefined ? undefined : (meaning.get(near) ?? near));
  return meant ?? known.find((field) => begins(plain, field) || begins(field, plain));
}

/** `; did you mean "x"`, or nothing: the tail of an error text about an unknown field. */
export function didYouMeanField(word: string, known: readonly string[]): string {
  const field = meantField(word, known);
  return field === undefined ? "" : `; did you mean "${field}"`;
}

function begins(text: string, beginning: string): boolean {
  return beginning.length >= beginningMin && text.startsWith(beginning);
}
