import { claimVolumeName, type Naming, networkAliases } from "./naming.ts";
import { decodePassed } from "./spec/passed.ts";
import type { ContainerSpec, EngineOptions, Mount, ResolvedWorkload } from "./workload.ts";

/** Role of everything that a drill makes. Without an identity beside it, nothing converges, routes to or watches it. */
export const drillRole = "drill";

/**
 * Labels of a container of a drill. An image that was made from a container of ours has the labels of that one, and the
 * engine adds those of an image to the container's: the empty ones keep a copy from being taken for a replica.
 */
const drillLabels = ({ label }: Naming): Record<string, string> => ({
  ...Object.fromEntries(
    [label.kind, label.scope, label.name, label.replicaId, label.block, label.plugin].map((key) => [key, ""]),
  ),
  [label.role]: drillRole,
});

/** Where a copy of an app lives for a while. */
interface DrillPlace {
  /** What tells it from other containers of the drill. */
  id: string;
  /** The closed network. */
  network: string;
  image: string;
  ordinal: number | undefined;
  /** What is mounted in place of each volume, by its name in the engine. */
  volumes: ReadonlyMap<string, string>;
  /** The limit of an app without one of its own. */
  memoryBytes: number;
}

/** Capabilities that reach nothing outside of a container without a way out. */
const harmless = [
  ...["AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "IPC_LOCK", "KILL", "MKNOD", "NET_BIND_SERVICE"],
  ...["SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT", "SYS_NICE", "SYS_RESOURCE"],
];

/** Why a copy of an app could not live by itself, or would reach what is live; undefined: it can. */
export function undrillable({ container, inits }: ResolvedWorkload): string | undefined {
  const { networkMode, mounts, capAdd } = container;
  if (networkMode !== "bridge" && networkMode !== "none") return `it uses network_mode ${networkMode}`;
  const folder = mounts.find(({ type, assetDigest }) => type === "bind" && assetDigest === undefined);
  if (folder !== undefined) return `it mounts "${folder.source}" of the machine`;
  const external = mounts.find(({ volume }) => volume?.external);
  if (external !== undefined) return `it mounts the external volume "${external.source}"`;
  const right = capAdd.find((name) => !harmless.includes(name.toUpperCase().replace(/^CAP_/, "")));
  if (right !== undefined) return `it has the capability ${right}`;
  const all = [container.options, ...inits.flatMap(({ options }) => options ?? [])];
  return all.map(reachingOption).find((found) => found !== undefined);
}

/**
 * Other apps whose names stand in the environment of an app where addresses do, as `scope/name`. `others`: all that are
 * stored.
 */
export function appsNamedIn(
  { scope, name, container: { env } }: ResolvedWorkload,
  others: readonly { scope: string; name: string }[],
  { envPrefixes }: Pick<Naming, "envPrefixes">,
): string[] {
  const isOurs = (variable: string) => envPrefixes.some((prefix) => variable.startsWith(`${prefix}_`));
  const values = Object.entries(env).flatMap(([variable, value]) => (isOurs(variable) ? [] : value.toLowerCase()));
  // One pass over each text: a value may be as long as its author likes.
  const words = values.flatMap((value) => value.match(/[a-z0-9.-]+/g) ?? []);
  const long = words.flatMap((word) => word.split("..")).map((word) => word.replace(/^\./, ""));
  const short = values.flatMap((value) => [...value.matchAll(/(?:^|\/\/|@|,)([a-z0-9-]+)(?=[:/,]|$)/g)]);
  const hosts = [...long, ...short.map(([, host = ""]) => `${host}.${scope}`)];
  const apps = others.filter((one) => one.scope !== scope || one.name !== name);
  const known = new Set(apps.map(nameOf));
  const partsMax = Math.max(0, ...[...known].map((one) => one.split(".").length));
  const heads = hosts.flatMap((host) => headsOf(host.split(".", partsMax + 1)));
  const found = new Set(heads.filter((head) => known.has(head)));
  return [...new Set(apps.filter((one) => found.has(nameOf(one))).map((other) => `${other.scope}/${other.name}`))];
}

const nameOf = ({ scope, name }: { scope: string; name: string }) => `${name}.${scope}`;

/** What may be an app and its scope where a host name begins. One of a replica names the app. */
function headsOf([first = "", ...rest]: string[]): string[] {
  return [first, first.replace(/-\d+$/, "")].flatMap((app) =>
    rest.map((_, at) => [app, ...rest.slice(0, at + 1)].join(".")),
  );
}

function reachingOption(options: EngineOptions): string | undefined {
  const { privileged, devices = [], securityOpt = [], ipcMode, pidMode } = options;
  if (privileged === true) return "it is privileged";
  if (devices[0] !== undefined) return `it uses the device ${devices[0].pathOnHost}`;
  const opened = securityOpt.find((text) => !/^no-new-privileges(?:[:=]true)?$/.test(text));
  if (opened !== undefined) return `it sets the security option ${opened}`;
  if (ipcMode !== undefined && !["private", "none", "shareable"].includes(ipcMode))
    return `it uses ipc mode ${ipcMode}`;
  return pidMode === undefined ? undefined : `it uses pid mode ${pidMode}`;
}

/** An address for documentation (RFC 5737), which leads nowhere: the engine must not ask the name servers of the machine. */
const noServer = "192.0.2.1";

/**
 * The container of a copy: what an app runs, on the closed network, with the volumes of the drill. Whatever of a container
 * is not named here stays at its default, so that a new field or option reaches nothing before somebody has decided so.
 */
export function drillSpec(workload: ResolvedWorkload, place: DrillPlace, names: Naming): ContainerSpec {
  const { container, scope, name } = workload;
  const { ordinal, network } = place;
  const closed = container.networkMode === "none";
  const aliases = [name, ...networkAliases(names, { scope, name }, ordinal, container.options.networkAliases)];
  return {
    ...decodePassed({}),
    name: `${names.prefix}-drill.${place.id}`,
    image: place.image,
    command: container.command,
    env: {
      ...container.env,
      ...Object.fromEntries(
        names.envPrefixes.flatMap((prefix) => [
          [`${prefix}_REPLICA_ID`, place.id],
          [`${prefix}_DRILL`, "1"],
          ...(ordinal === undefined ? [] : [[`${prefix}_REPLICA_ORDINAL`, String(ordinal)]]),
        ]),
      ),
    },
    labels: drillLabels(names),
    ports: [],
    mounts: [...container.mounts, ...claims(workload, ordinal, names)].map((mount) => mountedIn(mount, place)),
    networkMode: closed ? "none" : "bridge",
    networks: closed ? [] : [{ name: network, aliases }],
    // What it was to reach on the machine is nowhere.
    extraHosts: ["host.docker.internal:127.0.0.1"],
    capAdd: container.capAdd,
    stopSignal: container.stopSignal,
    // A copy may wait for another one that has not started yet.
    restart: { name: "on-failure", maximumRetryCount: 5 },
    ulimits: container.ulimits,
    nanoCpus: container.nanoCpus,
    memoryBytes: container.memoryBytes ?? place.memoryBytes,
    options: drilledOptions(container.options),
  };
}

/** An init of the app, which prepares the volumes of the copy as it does for the app. */
export function drilledInit(
  spec: ContainerSpec,
  init: ResolvedWorkload["inits"][number],
  image: string,
): ContainerSpec {
  return {
    ...spec,
    name: `${spec.name}-init`,
    image,
    command: init.command,
    networks: spec.networks.map(({ name }) => ({ name, aliases: [] })),
    restart: { name: "no", maximumRetryCount: 0 },
    options: init.options === undefined ? spec.options : drilledOptions(init.options),
  };
}

/** A release command of the app, which may take more memory than a replica: a live one has no limit. */
export function drilledCommand(spec: ContainerSpec, argv: readonly string[], memoryLeastBytes: number): ContainerSpec {
  return {
    ...spec,
    name: `${spec.name}-release`,
    command: [...argv],
    networks: spec.networks.map(({ name }) => ({ name, aliases: [] })),
    restart: { name: "no", maximumRetryCount: 0 },
    nanoCpus: undefined,
    memoryBytes: Math.max(spec.memoryBytes ?? 0, memoryLeastBytes),
  };
}

function claims({ volumeClaims, scope, name }: ResolvedWorkload, ordinal: number | undefined, names: Naming): Mount[] {
  return volumeClaims.map(({ name: claim, mountPath, owner }) => ({
    type: "volume",
    source: claimVolumeName(names, { scope, name }, claim, ordinal ?? 0),
    target: mountPath,
    readOnly: false,
    owner,
  }));
}

/** The volumes that it mounts, by their names in the engine. */
export function drilledVolumes(workload: ResolvedWorkload, ordinal: number | undefined, names: Naming): string[] {
  const mounts = [...workload.container.mounts, ...claims(workload, ordinal, names)];
  return [...new Set(mounts.flatMap(({ type, source }) => (type === "volume" ? [source] : [])))];
}

/** Files of assets are of the server, and never written. */
function mountedIn(mount: Mount, { volumes }: DrillPlace): Mount {
  if (mount.type === "bind") return { ...mount, readOnly: true };
  const { volume: _, ...rest } = mount;
  const source = volumes.get(mount.source);
  if (source === undefined) throw new Error(`the drill has nothing in place of volume "${mount.source}"`);
  return { ...rest, source };
}

/**
 * Whether a kernel parameter leaves a closed network closed. With IPv6, a container has an address beside this machine. The
 * engine also takes `/` in place of each `.`, and names that lead through `..`: only plain ones are judged by how they begin.
 */
function staysShut(sysctl: string): boolean {
  const parts = sysctl.includes(".") ? sysctl.split(".") : sysctl.split("/");
  return parts.every((part) => /^[\w-]+$/.test(part)) && !(parts[0] === "net" && parts[1] === "ipv6");
}

function drilledOptions(options: EngineOptions): EngineOptions {
  const { init, readonlyRootfs, user, workingDir, hostname, entrypoint, capDrop = [], groupAdd, tmpfs } = options;
  // What opens something is refused before, so this only forbids.
  const { securityOpt, shmSizeBytes, pidsLimit, cpusetCpus, memorySwapBytes, sysctls = {} } = options;
  return {
    ...{ init, readonlyRootfs, user, workingDir, hostname, entrypoint, groupAdd, tmpfs },
    ...{ securityOpt, shmSizeBytes, cpusetCpus, memorySwapBytes },
    // -1: the app may have any number.
    pidsLimit: pidsLimit === -1 ? undefined : pidsLimit,
    sysctls: Object.fromEntries(Object.entries(sysctls).filter(([key]) => staysShut(key))),
    capDrop: [...new Set([...capDrop, "NET_RAW"])],
    dns: [noServer],
    dnsSearch: ["."],
    // The live apps come first, and it is the first to end when memory does.
    cpuShares: 64,
    oomScoreAdj: 900,
  };
}
