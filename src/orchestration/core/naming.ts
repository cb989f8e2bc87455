/**
 * Everything that is named after the brand, from one setting. Another installation on the same machine, or one that
 * runs plugins written for another controller, sets another prefix.
 */
export interface Naming {
  prefix: string;
  /** Platform bridge that every pod in bridge mode joins. */
  network: string;
  /** Last DNS label of the long aliases. */
  dnsSuffix: string;
  /** Upper-case prefix of environment variables, without the underscore. */
  envPrefix: string;
  /** Under which containers get what is injected: the installation's own, and `BERTH` for what is documented. */
  envPrefixes: readonly string[];
  /** Prefix of response headers. */
  headerPrefix: string;
  /** System group whose members may use the orchestration plane. */
  operatorGroup: string;
  label: Labels;
}

/** Label keys on containers, volumes and networks. Identity is read from these, never from names. */
interface Labels {
  createdBy: "createdby";
  installation: string;
  kind: string;
  scope: string;
  name: string;
  replicaId: string;
  replicaOrdinal: string;
  manifestHash: string;
  generation: string;
  createdAt: string;
  /** Ports that ingresses led to when the container was made, `3000,8080`: see `controller/pods/port-room.ts`. */
  ingressPorts: string;
  releaseId: string;
  role: string;
  claim: string;
  /** On a volume: the name by which manifests of its scope mount it. */
  volume: string;
  /** Image reference as given at creation: the engine's listing forgets it once the tag has moved. */
  image: string;
  /** On what a plugin's block was expanded into: `postgres/data/main`. */
  block: string;
  /** Who expanded it, and its version: `postgres@1.2`. */
  plugin: string;
}

/** Manifests and examples name injected variables under this prefix, and work in every installation. */
const documentedEnvPrefix = "BERTH";

export function naming(prefix = "berth"): Naming {
  const envPrefix = prefix.toUpperCase().replaceAll("-", "_");
  return {
    prefix,
    network: `${prefix}0`,
    dnsSuffix: prefix,
    envPrefix,
    envPrefixes: [...new Set([documentedEnvPrefix, envPrefix])],
    headerPrefix: `X-${prefix.charAt(0).toUpperCase()}${prefix.slice(1)}`,
    operatorGroup: prefix,
    label: {
      createdBy: "createdby",
      installation: `${prefix}.installation`,
      kind: `${prefix}.kind`,
      scope: `${prefix}.scope`,
      name: `${prefix}.name`,
      replicaId: `${prefix}.replica_id`,
      replicaOrdinal: `${prefix}.replica_ordinal`,
      manifestHash: `${prefix}.manifest_hash`,
      generation: `${prefix}.generation`,
      createdAt: `${prefix}.created_at`,
      ingressPorts: `${prefix}.ingress_ports`,
      releaseId: `${prefix}.release_id`,
      role: `${prefix}.role`,
      claim: `${prefix}.claim`,
      volume: `${prefix}.volume`,
      image: `${prefix}.image`,
      block: `${prefix}.block`,
      plugin: `${prefix}.plugin`,
    },
  };
}

/**
 * What the platform tells a container, by the end of the variable's name: under the installation's own prefix always, and
 * under the documented one where `own`, the app's environment, has no such variable.
 */
export function injectedEnv(
  { envPrefix, envPrefixes }: Pick<Naming, "envPrefix" | "envPrefixes">,
  values: Record<string, string>,
  own: Record<string, string>,
): Record<string, string> {
  const injected: Record<string, string> = {};
  for (const prefix of envPrefixes) {
    for (const [word, value] of Object.entries(values)) {
      const key = `${prefix}_${word}`;
      if (key.startsWith(`${envPrefix}_`) || !(key in own)) injected[key] = value;
    }
  }
  return injected;
}

/** `<scope>-<name>`, or `<name>` without a scope. */
export function appId(scope: string, name: string): string {
  return scope === "" ? name : `${scope}-${name}`;
}

/** `<scope>-<name>.<replica_id>`; the last dot splits. */
export function containerName(scope: string, name: string, replicaId: string): string {
  return `${appId(scope, name)}.${replicaId}`;
}

/** Repository of the names that keep images from `docker image prune`. No app's image is named like it: those have no slash. */
export function keptRepository({ prefix }: Pick<Naming, "prefix">): string {
  return `${prefix}-kept/image`;
}

/** `berth-kept/image:shop-web-0a1b2c3d4e5f`. The owner is in the tag: a name such as `a._b` cannot be part of a repository. */
export function keptImageTag(
  names: Pick<Naming, "prefix">,
  { scope, name, imageId }: { scope: string; name: string; imageId: string },
): string {
  const short = imageId.replace(/^sha256:/, "").slice(0, 12);
  return `${keptRepository(names)}:${appId(scope, name)}-${short}`;
}

export function claimVolumeName(
  names: Naming,
  owner: { scope: string; name: string },
  claim: string,
  ordinal: number,
): string {
  return `${names.prefix}-${appId(owner.scope, owner.name)}-${claim}-${ordinal}`;
}

/**
 * The engine's name of the volume `volume` of a scope. Neither prefix nor scope holds an underscore, and claim volumes
 * begin with the prefix and a dash: no two owners meet.
 */
export function scopedVolumeName(names: Naming, owner: string, volume: string): string {
  return `${names.prefix}_${owner}_${volume}`;
}

/** Whether a volume is written by its name in the engine: what begins as our volumes do is one of those. */
export function isEngineVolumeName(names: Naming, volume: string): boolean {
  return [`${names.prefix}-`, `${names.prefix}_`, `${names.envPrefix.toLowerCase()}-`].some((start) =>
    volume.startsWith(start),
  );
}

/**
 * DNS names of a pod on bridge networks: shared by all replicas, and one pair of its own per statefulset ordinal. `more`
 * are further names that its manifest gives it; like its own, they are those of its scope alone: `a.shop` in a scope that is
 * called as the suffix has no short name, which would be the long one of `shop/a`.
 */
export function networkAliases(
  names: Naming,
  owner: { scope: string; name: string },
  ordinal: number | undefined,
  more: readonly string[] = [],
): string[] {
  const host = (name: string) => (owner.scope === "" ? name : `${name}.${owner.scope}`).toLowerCase();
  const isLongOfOther = (name: string) => owner.scope === names.dnsSuffix && name.includes(".");
  const pair = (name: string) => [...(isLongOfOther(name) ? [] : [host(name)]), `${host(name)}.${names.dnsSuffix}`];
  const shared = [...new Set([owner.name, ...more].flatMap(pair))];
  return ordinal === undefined ? shared : [...pair(`${owner.name}-${ordinal}`), ...shared];
}
