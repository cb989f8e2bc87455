import type Dockerode from "dockerode";
import { containerDefaults } from "../../api/kinds/defaults.ts";
import type { ContainerSpec, EngineOptions, Mount, PortBinding } from "../../core/workload.ts";
import { envRows } from "./formats.ts";

/** The request of `POST /containers/create`: dockerode would put anything but these two into the URL, secrets included. */
interface CreateRequest {
  _query: { name: string };
  _body: Dockerode.ContainerCreateOptions;
}

/** `labels` are the container's, complete. Only the first network is part of it; the others are connected afterwards. */
export function createRequest(spec: ContainerSpec, labels: Record<string, string>): CreateRequest {
  const { options } = spec;
  return {
    _query: { name: spec.name },
    _body: {
      Image: spec.image,
      Cmd: spec.command,
      Entrypoint: options.entrypoint,
      Env: envRows(spec.env),
      Labels: labels,
      User: options.user,
      WorkingDir: options.workingDir,
      Hostname: options.hostname,
      StopSignal: spec.stopSignal,
      StopTimeout: wholeSeconds(spec.stopGraceMs),
      ExposedPorts: exposedPorts(publishedPorts(spec)),
      HostConfig: hostConfig(spec),
      NetworkingConfig: networkingConfig(spec),
      ...attachment(spec),
    },
  };
}

/** How a container joins one network. The engine's default bridge knows no aliases and refuses them. */
export function endpointSettings(network: ContainerSpec["networks"][number]): { Aliases?: string[] } {
  return network.name === "bridge" || network.aliases.length === 0 ? {} : { Aliases: network.aliases };
}

/** The engine counts in seconds; a shorter grace than asked for would be the worse error. */
export function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/** With `StdinOnce` the end of the client's input is the end of the process's. */
function attachment({ attach }: ContainerSpec): Dockerode.ContainerCreateOptions {
  if (attach === undefined) return {};
  const { tty, interactive } = attach;
  const stdin = { AttachStdin: interactive, OpenStdin: interactive, StdinOnce: interactive };
  return { Tty: tty, AttachStdout: true, AttachStderr: true, ...stdin };
}

function hostConfig(spec: ContainerSpec): Dockerode.HostConfig {
  return {
    NetworkMode: networkMode(spec),
    PortBindings: portBindings(publishedPorts(spec)),
    ...storage(spec.mounts),
    RestartPolicy: restartPolicy(spec),
    LogConfig: {
      Type: "json-file",
      Config: { "max-size": spec.log.maxSize, "max-file": String(spec.log.maxFiles) },
    },
    ExtraHosts: extraHosts(spec),
    CapAdd: [...spec.capAdd],
    Ulimits: spec.ulimits.map(({ name, soft, hard }) => ({ Name: name, Soft: soft, Hard: hard })),
    NanoCpus: spec.nanoCpus,
    Memory: spec.memoryBytes,
    ...consoleSize(spec),
    ...engineOptions(spec.options),
  };
}

/** Engines before API 1.42 ignore it: they get the size right after the start. */
function consoleSize({ attach }: ContainerSpec): Dockerode.HostConfig {
  return attach?.tty === true && attach.size !== undefined ? { ConsoleSize: [attach.size.rows, attach.size.cols] } : {};
}

function engineOptions(options: EngineOptions): Dockerode.HostConfig {
  return {
    Init: options.init,
    Privileged: options.privileged,
    ReadonlyRootfs: options.readonlyRootfs,
    CapDrop: options.capDrop,
    Dns: options.dns,
    DnsSearch: options.dnsSearch,
    DnsOptions: options.dnsOptions,
    GroupAdd: options.groupAdd,
    SecurityOpt: options.securityOpt,
    Sysctls: options.sysctls,
    Tmpfs: options.tmpfs,
    Devices: options.devices?.map((device) => ({
      PathOnHost: device.pathOnHost,
      PathInContainer: device.pathInContainer,
      CgroupPermissions: device.permissions,
    })),
    ShmSize: options.shmSizeBytes,
    MemoryReservation: options.memoryReservationBytes,
    MemorySwap: options.memorySwapBytes,
    PidsLimit: options.pidsLimit ?? containerDefaults.pidsLimit,
    CpuShares: options.cpuShares,
    CpusetCpus: options.cpusetCpus,
    OomScoreAdj: options.oomScoreAdj,
    IpcMode: options.ipcMode,
    PidMode: options.pidMode,
  };
}

function networkMode({ networkMode: mode, networks }: ContainerSpec): string {
  return mode === "bridge" ? (networks[0]?.name ?? "bridge") : mode;
}

function networkingConfig(spec: ContainerSpec): Dockerode.ContainerCreateOptions["NetworkingConfig"] {
  const first = spec.networkMode === "bridge" ? spec.networks[0] : undefined;
  return first === undefined ? undefined : { EndpointsConfig: { [first.name]: endpointSettings(first) } };
}

/** Ports belong to bridge mode: with `host` they are the process's own, with `none` there is nothing to reach. */
function publishedPorts(spec: ContainerSpec): PortBinding[] {
  return spec.networkMode === "bridge" ? spec.ports : [];
}

const portKey = ({ containerPort, protocol }: PortBinding) => `${containerPort}/${protocol}`;

function exposedPorts(ports: readonly PortBinding[]): Record<string, object> {
  return Object.fromEntries(ports.map((port) => [portKey(port), {}]));
}

function portBindings(ports: readonly PortBinding[]): Record<string, { HostIp: string; HostPort: string }[]> {
  const bindings: Record<string, { HostIp: string; HostPort: string }[]> = {};
  for (const port of ports) {
    const binding = { HostIp: port.hostIp, HostPort: port.hostPort === undefined ? "" : String(port.hostPort) };
    bindings[portKey(port)] = [...(bindings[portKey(port)] ?? []), binding];
  }
  return bindings;
}

/** The other options are required by dockerode's types only. */
const noCopy = { NoCopy: true } as Dockerode.MountSettings["VolumeOptions"];

/**
 * Host folders that a user wrote go into `Binds`, where the engine makes a missing one, as users of Docker expect:
 * its newer form of the same (`BindOptions.CreateMountpoint`) is not in API 1.41. A missing asset file must be an
 * error instead of an empty folder in its place, which is what `Mounts` does.
 */
function storage(mounts: readonly Mount[]): Pick<Dockerode.HostConfig, "Binds" | "Mounts"> {
  const isBind = ({ type, assetDigest }: Mount) => type === "bind" && assetDigest === undefined;
  return {
    Binds: mounts.filter(isBind).map(({ source, target, readOnly }) => `${source}:${target}${readOnly ? ":ro" : ""}`),
    Mounts: mounts
      .filter((mount) => !isBind(mount))
      .map(({ type, source, target, readOnly, owner }) => ({
        Type: type,
        Source: source,
        Target: target,
        ReadOnly: readOnly,
        // What the image has there was copied when the owner was set: a second copy would take the owner back.
        ...(owner === undefined ? {} : { VolumeOptions: noCopy }),
      })),
  };
}

/** The engine refuses a count beside any policy but `on-failure`. */
function restartPolicy({ restart }: ContainerSpec): Dockerode.HostRestartPolicy {
  return restart.name === "on-failure"
    ? { Name: restart.name, MaximumRetryCount: restart.maximumRetryCount }
    : { Name: restart.name };
}

const hostName = "host.docker.internal";

/** The way to the machine itself, unless the user gave that name another meaning. */
function extraHosts(spec: ContainerSpec): string[] {
  const taken = spec.extraHosts.some((entry) => entry.startsWith(`${hostName}:`));
  return spec.networkMode === "bridge" && !taken
    ? [`${hostName}:host-gateway`, ...spec.extraHosts]
    : [...spec.extraHosts];
}
