import type Dockerode from "dockerode";
import type { Naming } from "../../core/naming.ts";
import { placed } from "../identity.ts";
import type { ContainerState, InspectedPod, ObservedPod } from "../pod.ts";
import { startWords } from "./start-words.ts";
import { asList, envRecord, epochMs } from "./formats.ts";

const states = new Set<string>(["created", "running", "restarting", "paused", "exited", "removing", "dead"]);
const isState = (text: string): text is ContainerState => states.has(text);

/** A row of the engine's listing. */
export function containerRow(row: Dockerode.ContainerInfo, names: Naming): ObservedPod {
  const labels = row.Labels ?? {};
  const container = {
    id: row.Id,
    name: ownName(row.Names ?? []),
    image: labels[names.label.image] ?? row.Image,
    imageId: row.ImageID,
    state: containerState(row.State),
    status: row.Status,
    createdAt: row.Created * 1000,
    labels,
    joined: Object.keys(row.NetworkSettings?.Networks ?? {}),
    addresses: addressesOf(row.NetworkSettings?.Networks ?? {}),
  };
  return placed(container, names);
}

/** The engine's answer to inspect. */
export function containerDetail(info: Dockerode.ContainerInspectInfo, names: Naming): InspectedPod {
  const { State: state, Config: config, HostConfig: host } = info;
  const ended = state.Status === "exited" || state.Status === "restarting" || state.Status === "dead";
  const container = {
    id: info.Id,
    name: info.Name.replace(/^\//, ""),
    image: config.Image,
    imageId: info.Image,
    state: containerState(state.Status),
    status: state.Status,
    createdAt: epochMs(info.Created) ?? 0,
    labels: config.Labels ?? {},
    startedAt: epochMs(state.StartedAt),
    finishedAt: epochMs(state.FinishedAt),
    exitCode: ended ? state.ExitCode : undefined,
    oomKilled: state.OOMKilled,
    error: startWords(state.Error ?? ""),
    restartCount: info.RestartCount,
    pid: state.Pid || undefined,
    command: asList(config.Cmd),
    entrypoint: asList(config.Entrypoint),
    workingDir: config.WorkingDir,
    env: envRecord(config.Env),
    joined: Object.keys(info.NetworkSettings.Networks ?? {}),
    addresses: addressesOf(info.NetworkSettings.Networks ?? {}),
    networks: networksOf(info),
    mounts: mountsOf(info),
    ports: portsOf(info),
    restartPolicy: host.RestartPolicy?.Name ?? "no",
    stopGraceMs: stopGraceMs(config),
    nanoCpus: host.NanoCpus || undefined,
    memoryBytes: host.Memory || undefined,
    tty: config.Tty,
    ...(host.LogConfig?.Type === "json-file" && info.LogPath ? { logPath: info.LogPath } : {}),
  };
  return placed(container, names);
}

const engineGraceMs = 10_000;

/** The published types do not know the field. */
function stopGraceMs(config: object): number {
  const seconds = "StopTimeout" in config ? config.StopTimeout : undefined;
  return typeof seconds === "number" ? seconds * 1000 : engineGraceMs;
}

function containerState(text: string): ContainerState {
  const state = text.toLowerCase();
  return isState(state) ? state : "unknown";
}

/** A container that others link to has further names, with a path. */
function ownName(names: readonly string[]): string {
  const name = names.find((candidate) => candidate.lastIndexOf("/") === 0) ?? names[0] ?? "";
  return name.replace(/^\//, "");
}

function addressesOf(networks: Record<string, { IPAddress?: string }>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(networks).flatMap(([name, { IPAddress: address }]) => (address ? [[name, address]] : [])),
  );
}

function networksOf(info: Dockerode.ContainerInspectInfo): InspectedPod["networks"] {
  const rows = Object.entries(info.NetworkSettings.Networks ?? {});
  return Object.fromEntries(
    rows.map(([name, network]) => [
      name,
      {
        networkId: network.NetworkID,
        ipAddress: network.IPAddress,
        gateway: network.Gateway,
        aliases: asList(network.Aliases),
      },
    ]),
  );
}

function mountsOf(info: Dockerode.ContainerInspectInfo): InspectedPod["mounts"] {
  return (info.Mounts ?? []).map((mount) => ({
    type: mount.Type,
    // A volume is known by its name.
    source: mount.Type === "volume" ? (mount.Name ?? mount.Source) : mount.Source,
    destination: mount.Destination,
    mode: mount.Mode,
    rw: mount.RW,
    ...(mount.Source === "" ? {} : { hostPath: mount.Source }),
  }));
}

/** Published ports only; empty unless it runs. */
function portsOf(info: Dockerode.ContainerInspectInfo): InspectedPod["ports"] {
  return Object.entries(info.NetworkSettings.Ports ?? {}).flatMap(([container, bindings]) =>
    (bindings ?? []).map(({ HostIp, HostPort }) => ({ container, hostIp: HostIp, hostPort: HostPort })),
  );
}
