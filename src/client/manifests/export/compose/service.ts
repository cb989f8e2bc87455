import { parseCpu, parseMemory } from "../../../../base/pure/quantity.ts";
import { parseDockerOptions } from "../../../../orchestration/core/docker-options.ts";
import { fieldsOf, integerOf, textMapOf, textOf, wordsOf } from "../../../../orchestration/core/spec/lenient.ts";
import { decodeOptions, optionRows, optionsOf } from "../../../../orchestration/core/spec/passed.ts";
import { parsePort, portTexts } from "../../../../orchestration/core/ports.ts";
import { placeholdersIn } from "../../../../orchestration/core/placeholders.ts";
import type { EngineOptions } from "../../../../orchestration/core/workload.ts";
import { counterparts } from "../../compose/options.ts";
import { type Exportable, loseOthers } from "../exportable.ts";
import { type ComposeFile, mountsOf } from "./mounts.ts";

type Fields = Record<string, unknown>;

/** Fields that are read here. */
const read = [
  ...["image", "build", "pull", "entrypoint", "command", "env", "volumes", "networks", "network", "network_mode"],
  ...["ulimits", "docker_options", "resources", "logs", "stop_grace"],
  ...["replicas", "ports", "restart", "probes", "volume_claims", "depends_on", "health_check", "start_after"],
  ...counterparts.flatMap(({ field = [] }) => field),
  ...Object.values(optionRows).map(({ field }) => field),
];

const advice: Record<string, string> = {
  env_from: "names config of other apps: write the variables",
  inits: "has no counterpart: a service with depends_on and service_completed_successfully comes close",
  backup: "has no counterpart: a timer of the machine can run restic",
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
    ...ulimitsOf(spec),
    ...loggingOf(spec),
    stop_grace_period: textOf(spec.stop_grace) ?? "10s",
    ...counterpartsOf(spec, { ...options, ...optionsOf(decodeOptions(spec)) }),
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

/** Fields and options of docker that a service has under another name. */
function counterpartsOf(spec: Fields, options: EngineOptions): Fields {
  const found = counterparts.map(({ key, form, field, option }) => {
    if (option !== undefined) return [key, textsOf(option, options)];
    const value = spec[field ?? key];
    return [key, form === "text" ? textOf(value) : listOf(wordsOf(value))];
  });
  const { labels, entrypoint } = options;
  return Object.fromEntries(
    [...Object.entries({ entrypoint, labels }), ...found].filter(([, value]) => value !== undefined),
  );
}

/** An option as a service has it, where that is something other than the option itself. */
function textsOf(option: keyof EngineOptions, options: EngineOptions): unknown {
  const { [option]: value, tmpfs, devices } = options;
  if (option === "tmpfs" && tmpfs !== undefined) {
    return Object.entries(tmpfs).map(([path, flags]) => (flags === "" ? path : `${path}:${flags}`));
  }
  if (option === "devices") {
    return devices?.map(
      ({ pathOnHost, pathInContainer, permissions }) => `${pathOnHost}:${pathInContainer}:${permissions}`,
    );
  }
  if (!option.endsWith("Bytes") || typeof value !== "number") return value;
  return value === -1 ? "-1" : `${value}b`;
}

function listOf(words: readonly string[]): readonly string[] | undefined {
  return words.length === 0 ? undefined : words;
}
