import { parseCpu, parseMemory } from "../../../../base/pure/quantity.ts";
import { parseDockerOptions } from "../../../../orchestration/core/docker-options.ts";
import { fieldsOf, integerOf, textMapOf, textOf, wordsOf } from "../../../../orchestration/core/spec/lenient.ts";
import { parsePort, portTexts } from "../../../../orchestration/core/ports.ts";
import { placeholdersIn } from "../../../../orchestration/core/placeholders.ts";
import type { EngineOptions } from "../../../../orchestration/core/workload.ts";
import { type Exportable, loseOthers } from "../exportable.ts";
import { type ComposeFile, mountsOf } from "./mounts.ts";

type Fields = Record<string, unknown>;

/** Fields that are read here. */
const read = [
  ...["image", "build", "pull", "entrypoint", "command", "env", "volumes", "networks", "network", "network_mode"],
  ...["extra_hosts", "cap_add", "ulimits", "init", "docker_options", "resources", "logs", "stop_grace", "stop_signal"],
  ...["replicas", "ports", "restart", "probes", "volume_claims", "depends_on", "health_check", "start_after"],
];

const advice: Record<string, string> = {
  env_from: "names config of other apps: write the variables",
  inits: "has no counterpart: a service with depends_on and service_completed_successfully comes close",
  release: "has no counterpart: docker compose run before the start",
  rollout: "has no counterpart: Compose stops a container before it starts the next",
  autoscale: "has no counterpart",
  volume_owner: "has no counterpart: a service that runs chown before the others start comes close",
  telemetry: "has no counterpart: set OTEL_EXPORTER_OTLP_ENDPOINT to a collector",
};

/** A dollar sign is the start of a variable there. */
function verbatim(text: string): string {
  return text.replaceAll("$", "$$$$");
}

/** A deployment or statefulset as a service. Volumes and files that it needs go to `file`. */
export function serviceOf(from: Exportable, file: ComposeFile): Fields {
  const { spec, lose } = from;
  loseOthers(from, spec, { path: "spec", read, advice });
  const { options } = parseDockerOptions(wordsOf(spec.docker_options), "spec.docker_options");
  const words = (field: string) => {
    const list = wordsOf(spec[field]).map(verbatim);
    return list.length === 0 ? {} : { [field]: list };
  };
  const environment = Object.entries(textMapOf(spec.env)).map(([key, value]) => {
    if (placeholdersIn(value).length > 0)
      lose(`spec.env.${key}`, "holds a reference that only berth resolves: write the value");
    return [key, verbatim(value)] as const;
  });
  const replicas = integerOf(spec.replicas) ?? 1;
  const service: Fields = {
    ...imageOf(from),
    ...words("entrypoint"),
    ...words("command"),
    ...(environment.length === 0 ? {} : { environment: Object.fromEntries(environment) }),
    ...portsOf(from),
    ...mountsOf(from, file),
    restart: textOf(spec.restart) ?? "unless-stopped",
    ...healthOf(from),
    ...limitsOf(spec, replicas),
    ...networksOf(from, file, options),
    ...(wordsOf(spec.extra_hosts).length === 0 ? {} : { extra_hosts: wordsOf(spec.extra_hosts) }),
    ...(wordsOf(spec.cap_add).length === 0 ? {} : { cap_add: wordsOf(spec.cap_add) }),
    ...ulimitsOf(spec),
    ...loggingOf(spec),
    stop_grace_period: textOf(spec.stop_grace) ?? "10s",
    ...(textOf(spec.stop_signal) === undefined ? {} : { stop_signal: spec.stop_signal }),
    ...optionsOf(typeof spec.init === "boolean" ? { ...options, init: spec.init } : options),
  };
  if (from.kind === "statefulset" && replicas > 1) lose("spec.replicas", "its replicas share their volumes there");
  return service;
}

function imageOf({ spec, scope, name, lose }: Exportable): Fields {
  const pull = spec.pull === "always" ? { pull_policy: "always" } : {};
  if (spec.build === undefined) return { image: textOf(spec.image) ?? `${scope}-${name}:latest`, ...pull };
  const { context, path, dockerfile, target, args, lang } = fieldsOf(spec.build);
  if (path !== undefined) lose("spec.build.path", "has no counterpart: write the folder into context");
  if (lang !== undefined || dockerfile === undefined) {
    lose("spec.build", "needs a Dockerfile there: berth build --print shows the one that berth makes");
  }
  return {
    build: {
      context: textOf(context) ?? ".",
      ...(dockerfile === undefined ? {} : { dockerfile }),
      ...(target === undefined ? {} : { target }),
      ...(args === undefined ? {} : { args: textMapOf(args) }),
    },
  };
}

/** Without an address a port is on loopback here, and on all addresses there. */
function portsOf({ spec, lose }: Exportable): Fields {
  const ports = wordsOf(spec.ports).flatMap((entry, index) =>
    portTexts(entry).flatMap((text) => {
      const port = parsePort(text);
      if (!port.ok) {
        lose(`spec.ports[${index}]`, "cannot be read: left out");
        return [];
      }
      const { hostIp, hostPort, containerPort, protocol } = port.value;
      const address = hostIp.includes(":") ? `[${hostIp}]` : hostIp;
      return [`${address}:${hostPort ?? ""}:${containerPort}${protocol === "tcp" ? "" : `/${protocol}`}`];
    }),
  );
  return ports.length === 0 ? {} : { ports };
}

function healthOf({ spec, lose }: Exportable): Fields {
  const { startup, liveness, readiness } = fieldsOf(spec.probes);
  if (startup !== undefined) lose("spec.probes.startup", "has no counterpart");
  if (liveness !== undefined)
    lose("spec.probes.liveness", "has no counterpart: Compose restarts no unhealthy container");
  if (readiness === undefined) return {};
  const { exec, period, timeout, failure_threshold: retries } = fieldsOf(readiness);
  const command = wordsOf(fieldsOf(exec).command);
  if (command.length === 0) {
    lose("spec.probes.readiness", "is asked from outside, and a health check runs inside: write a command for it");
    return {};
  }
  return {
    healthcheck: {
      test: ["CMD", ...command.map(verbatim)],
      interval: textOf(period) ?? "10s",
      timeout: textOf(timeout) ?? "1s",
      retries: integerOf(retries) ?? 3,
    },
  };
}

function limitsOf(spec: Fields, replicas: number): Fields {
  const { cpu, memory } = fieldsOf(fieldsOf(spec.resources).limits);
  const nanoCpus = typeof cpu === "string" ? parseCpu(cpu) : undefined;
  const bytes = typeof memory === "string" ? parseMemory(memory) : undefined;
  const limits = {
    ...(nanoCpus === undefined ? {} : { cpus: String(nanoCpus / 1e9) }),
    ...(bytes === undefined ? {} : { memory: `${bytes}b` }),
  };
  const deploy = {
    // Without a restart, the count says that it is not a task.
    ...(replicas === 1 && spec.restart !== "no" ? {} : { replicas }),
    ...(Object.keys(limits).length === 0 ? {} : { resources: { limits } }),
  };
  return Object.keys(deploy).length === 0 ? {} : { deploy };
}

/** Under the name that it has here too: NAME.SCOPE. */
function networksOf({ spec, scope, name }: Exportable, file: ComposeFile, options: EngineOptions): Fields {
  const mode = textOf(spec.network_mode);
  if (mode === "host" || mode === "none") return { network_mode: mode };
  const others = [...wordsOf(spec.networks), ...wordsOf([spec.network])];
  for (const network of others) file.networks[network] = { external: true };
  const joined = others.map((network) => [network, {}] as const);
  const more = options.networkAliases ?? [];
  const aliases = [...new Set([name, ...more].map((one) => `${one}.${scope}`))];
  return { networks: { default: { aliases: [...aliases, ...more] }, ...Object.fromEntries(joined) } };
}

function ulimitsOf(spec: Fields): Fields {
  const limits = Object.entries(textMapOf(spec.ulimits)).map(([name, text]) => {
    const [soft, hard = soft] = text.split(":").map(Number);
    return [name, { soft, hard }] as const;
  });
  return limits.length === 0 ? {} : { ulimits: Object.fromEntries(limits) };
}

function loggingOf(spec: Fields): Fields {
  const { max_size: size, max_files: files } = fieldsOf(spec.logs);
  const options = { "max-size": textOf(size) ?? "10m", "max-file": String(integerOf(files) ?? 3) };
  return { logging: { driver: "json-file", options } };
}

/** Where options of docker stand in a service. */
function optionsOf(options: EngineOptions): Fields {
  const { init, privileged, readonlyRootfs, user, workingDir, hostname, entrypoint, labels, sysctls, tmpfs } = options;
  const found: Fields = {
    init,
    privileged,
    read_only: readonlyRootfs,
    user,
    working_dir: workingDir,
    hostname,
    entrypoint,
    labels,
    sysctls,
    tmpfs:
      tmpfs === undefined
        ? undefined
        : Object.entries(tmpfs).map(([path, flags]) => (flags === "" ? path : `${path}:${flags}`)),
    cap_drop: options.capDrop,
    dns: options.dns,
    dns_search: options.dnsSearch,
    dns_opt: options.dnsOptions,
    group_add: options.groupAdd,
    security_opt: options.securityOpt,
    devices: options.devices?.map(
      ({ pathOnHost, pathInContainer, permissions }) => `${pathOnHost}:${pathInContainer}:${permissions}`,
    ),
    shm_size: bytesText(options.shmSizeBytes),
    mem_reservation: bytesText(options.memoryReservationBytes),
    memswap_limit: options.memorySwapBytes === -1 ? "-1" : bytesText(options.memorySwapBytes),
    pids_limit: options.pidsLimit,
    cpu_shares: options.cpuShares,
    cpuset: options.cpusetCpus,
    oom_score_adj: options.oomScoreAdj,
    ipc: options.ipcMode,
    pid: options.pidMode,
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

function bytesText(bytes: number | undefined): string | undefined {
  return bytes === undefined ? undefined : `${bytes}b`;
}
