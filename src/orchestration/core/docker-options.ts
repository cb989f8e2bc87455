import { own } from "../../base/pure/fields.ts";
import type { Problem } from "../../base/wire/failure.ts";
import { capabilityFault } from "./capabilities.ts";
import { optionTokens } from "./docker-option-tokens.ts";
import { type Parsed, parsed, unreadable } from "../../base/pure/parsed.ts";
import { didYouMean } from "../../base/pure/suggest.ts";
import { isHostLabel } from "../../base/pure/hosts.ts";
import { parseMemory } from "../../base/pure/quantity.ts";
import { fieldOfFlag } from "./spec/passed.ts";
import type { EngineOptions } from "./workload.ts";

/** Reads the value of one flag: what it changes about the options so far. */
type Reader = (value: string, soFar: EngineOptions) => Parsed<EngineOptions>;

const switches: Record<string, (on: boolean) => EngineOptions> = {
  "--init": (init) => ({ init }),
  "--privileged": (privileged) => ({ privileged }),
  "--read-only": (readonlyRootfs) => ({ readonlyRootfs }),
};

const readers: Record<string, Reader> = {
  "--user": text((user) => ({ user })),
  "--workdir": text((workingDir) => ({ workingDir })),
  "--hostname": text((hostname) => ({ hostname })),
  "--entrypoint": text((program) => ({ entrypoint: [program] })),
  "--cpuset-cpus": text((cpusetCpus) => ({ cpusetCpus })),
  "--label": pair((label, { labels }) => ({ labels: { ...labels, ...label } })),
  "--sysctl": pair((sysctl, { sysctls }) => ({ sysctls: { ...sysctls, ...sysctl } })),
  "--cap-drop": readCapability,
  "--dns": text((value, { dns = [] }) => ({ dns: [...dns, value] })),
  "--dns-search": text((value, { dnsSearch = [] }) => ({ dnsSearch: [...dnsSearch, value] })),
  "--dns-option": text((value, { dnsOptions = [] }) => ({ dnsOptions: [...dnsOptions, value] })),
  "--network-alias": readNetworkAlias,
  "--group-add": text((value, { groupAdd = [] }) => ({ groupAdd: [...groupAdd, value] })),
  "--security-opt": text((value, { securityOpt = [] }) => ({ securityOpt: [...securityOpt, value] })),
  "--tmpfs": readTmpfs,
  "--device": readDevice,
  "--shm-size": size((shmSizeBytes) => ({ shmSizeBytes })),
  "--memory-reservation": size((memoryReservationBytes) => ({ memoryReservationBytes })),
  "--memory-swap": (value, soFar) =>
    value === "-1" ? parsed({ memorySwapBytes: -1 }) : size((memorySwapBytes) => ({ memorySwapBytes }))(value, soFar),
  "--pids-limit": whole([-1, 4_194_304], (pidsLimit) => ({ pidsLimit })),
  "--cpu-shares": whole([2, 262_144], (cpuShares) => ({ cpuShares })),
  "--oom-score-adj": whole([-1000, 1000], (oomScoreAdj) => ({ oomScoreAdj })),
  "--ipc": word(["none", "private", "shareable", "host"], (ipcMode) => ({ ipcMode })),
  "--pid": word(["host"], (pidMode) => ({ pidMode })),
};

const shortForms: Record<string, string> = {
  "-u": "--user",
  "-w": "--workdir",
  "-h": "--hostname",
  "-l": "--label",
  "-c": "--cpu-shares",
  "--dns-opt": "--dns-option",
};

/** Flags that have a field of another name, or that would take the container away from the platform. */
const elsewhere: Record<string, string> = {
  "--env": "use env",
  "-e": "use env",
  "--env-file": "use env_from or config",
  "--publish": "use ports",
  "-p": "use ports",
  "--volume": "use volumes",
  "-v": "use volumes",
  "--mount": "use volumes",
  "--network": "use networks or network_mode",
  "--net": "use networks or network_mode",
  "--memory": "use resources.limits.memory",
  "-m": "use resources.limits.memory",
  "--cpus": "use resources.limits.cpu",
  "--restart": "use restart",
  "--ulimit": "use ulimits",
  "--add-host": "use extra_hosts",
  "--log-driver": "use logs",
  "--log-opt": "use logs",
  "--stop-timeout": "use stop_grace",
  "--health-cmd": "use probes",
  "--name": "the platform names containers",
  "--rm": "the platform removes containers",
  "--detach": "containers always run in the background",
  "-d": "containers always run in the background",
};

/**
 * `docker_options`: an allow-list of `docker run` flags as engine options. What cannot be read is a problem with the
 * path of its entry; `path` is that of the list.
 */
export function parseDockerOptions(
  entries: readonly string[],
  path: string,
): { options: EngineOptions; problems: Problem[] } {
  let options: EngineOptions = {};
  const { tokens, problems } = optionTokens(entries, path, (flag) => Object.hasOwn(switches, flag));
  for (const token of tokens) {
    const change = readFlag(token.flag, token.value, options);
    if (change.ok) options = { ...options, ...change.value };
    else problems.push({ path: token.path, message: change.error });
  }
  return { options, problems };
}

const sizeFlags = ["--shm-size", "--memory-reservation", "--memory-swap"];

/** The sizes among the options: what they say, the bytes that they are, and the path of their entry. */
export function dockerSizes(entries: readonly string[], path: string): { path: string; text: string; bytes: number }[] {
  const { tokens } = optionTokens(entries, path, (flag) => Object.hasOwn(switches, flag));
  return tokens.flatMap(({ flag, value: text = "", path: at }) => {
    const bytes = sizeFlags.includes(flag) ? parseEngineSize(text) : undefined;
    return bytes?.ok === true ? [{ path: at, text, bytes: bytes.value }] : [];
  });
}

function readFlag(written: string, value: string | undefined, soFar: EngineOptions): Parsed<EngineOptions> {
  const flag = own(shortForms, written) ?? written;
  const turn = own(switches, flag);
  if (turn !== undefined) {
    const readable = value === undefined || value === "true" || value === "false";
    return readable ? parsed(turn(value !== "false")) : unreadable(`"${flag}" takes no value, got "${value}"`);
  }
  const read = own(readers, flag);
  if (read !== undefined) {
    const change = value === undefined ? unreadable("needs a value") : read(value, soFar);
    return change.ok ? change : unreadable(`"${flag}" ${change.error}`);
  }
  const field = fieldOfFlag(flag);
  const hint = own(elsewhere, flag) ?? (field && `use ${field}`);
  if (hint !== undefined) return unreadable(`"${flag}" is not accepted here; ${hint}`);
  return unreadable(
    `"${flag}" is not an accepted flag${didYouMean(flag, [...Object.keys(readers), ...Object.keys(switches)])}`,
  );
}

function text(change: (value: string, soFar: EngineOptions) => EngineOptions): Reader {
  return (value, soFar) => (value === "" ? unreadable("needs a value") : parsed(change(value, soFar)));
}

function pair(change: (entry: Record<string, string>, soFar: EngineOptions) => EngineOptions): Reader {
  return (value, soFar) => {
    const equals = value.indexOf("=");
    if (equals < 1) return unreadable(`needs KEY=VALUE, got "${value}"`);
    return parsed(change({ [value.slice(0, equals)]: value.slice(equals + 1) }, soFar));
  };
}

function size(change: (bytes: number) => EngineOptions): Reader {
  return (value) => {
    const bytes = parseEngineSize(value);
    return bytes.ok ? parsed(change(bytes.value)) : bytes;
  };
}

function whole([least, most]: [number, number], change: (value: number) => EngineOptions): Reader {
  return (value) => {
    const number = /^-?\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return parsed(change(number));
    return unreadable(`needs a whole number from ${least} to ${most}, got "${value}"`);
  };
}

function word(allowed: string[], change: (value: string) => EngineOptions): Reader {
  return (value) => {
    if (allowed.includes(value)) return parsed(change(value));
    return unreadable(`takes ${allowed.map((one) => `"${one}"`).join(", ")}, got "${value}"`);
  };
}

function readCapability(value: string, { capDrop = [] }: EngineOptions): Parsed<EngineOptions> {
  const fault = capabilityFault(value);
  return fault === undefined ? parsed({ capDrop: [...capDrop, value] }) : unreadable(`takes a capability: ${fault}`);
}

/** One label: a name with a dot would not be looked up below the scope. */
function readNetworkAlias(value: string, { networkAliases = [] }: EngineOptions): Parsed<EngineOptions> {
  if (isHostLabel(value)) return parsed({ networkAliases: [...networkAliases, value] });
  return unreadable(
    `takes a name of up to 63 letters, digits, "-" and "_" that begins and ends with a letter or digit, got "${value}"`,
  );
}

function readTmpfs(value: string, { tmpfs }: EngineOptions): Parsed<EngineOptions> {
  const colon = value.indexOf(":");
  const target = colon < 0 ? value : value.slice(0, colon);
  if (!target.startsWith("/")) return unreadable(`needs an absolute path, got "${value}"`);
  return parsed({ tmpfs: { ...tmpfs, [target]: colon < 0 ? "" : value.slice(colon + 1) } });
}

function readDevice(value: string, { devices = [] }: EngineOptions): Parsed<EngineOptions> {
  const [pathOnHost = "", second, third] = value.split(":");
  const isMode = (part: string | undefined) => part !== undefined && /^[rwm]{1,3}$/.test(part);
  const pathInContainer = second === undefined || isMode(second) ? pathOnHost : second;
  const permissions = third ?? (isMode(second) ? second : undefined) ?? "rwm";
  const absolute = pathOnHost.startsWith("/") && pathInContainer.startsWith("/");
  if (!absolute || !isMode(permissions) || value.split(":").length > 3) {
    return unreadable(`needs /dev/host[:/dev/container[:rwm]], got "${value}"`);
  }
  return parsed({ devices: [...devices, { pathOnHost, pathInContainer, permissions }] });
}

/** The engine's own sizes: `64m`, `1g` (powers of 1024), beside our quantities. */
export function parseEngineSize(value: string): Parsed<number> {
  const match = /^(\d{1,15}(?:\.\d{1,9})?)([bkmg]?)b?$/i.exec(value);
  const powers: Record<string, string> = { k: "Ki", m: "Mi", g: "Gi", b: "", "": "" };
  const unit = match?.[2]?.toLowerCase() ?? "";
  const bytes = parseMemory(match === null ? value : `${match[1]}${powers[unit] ?? ""}`);
  return bytes === undefined ? unreadable(`needs a size such as "64m", got "${value}"`) : parsed(bytes);
}
