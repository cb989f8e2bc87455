import { argumentFault, argumentsFault } from "./argument-size.ts";
import { parseDockerOptions } from "./docker-options.ts";
import { parseDuration } from "../../base/pure/duration.ts";
import { fieldsOf, integerOf, listOf, textMapOf, textOf, wordsOf } from "./lenient.ts";
import { engineVolumeName, namedVolume } from "./named-volumes.ts";
import { type Naming, injectedEnv } from "./naming.ts";
import { childPath } from "../../base/pure/path.ts";
import { parsePort } from "./ports.ts";
import { parseCpu, parseMemory } from "../../base/pure/quantity.ts";
import { placeholdersIn } from "./reference.ts";
import { assetDigest, type Fill, type ResolveProblem } from "./resolve-placeholders.ts";
import type { ResolveInput } from "./resolve-input.ts";
import { telemetryEnv, wantsTelemetry } from "./telemetry-env.ts";
import { parseRestartPolicy } from "./restart-policy.ts";
import { parseUlimit, type Ulimit } from "./ulimits.ts";
import { parseVolume } from "./volumes.ts";
import type { ContainerTemplate, EngineOptions, ResolvedInit, Mount, PortBinding } from "./workload.ts";

interface Tools {
  fill: Fill;
  problems: ResolveProblem[];
}

const stopGraceMs = 10_000;

/** What all replicas share, from a stored spec. Entries that cannot be read become problems and are left out. */
export function containerTemplate(input: ResolveInput, tools: Tools): ContainerTemplate {
  const { spec } = input.manifest;
  const filled = (field: "entrypoint" | "command") =>
    wordsOf(spec[field]).map((word, index) => tools.fill(word, `spec.${field}[${index}]`));
  const [entrypoint, command] = [filled("entrypoint"), filled("command")];
  const options = engineOptions(wordsOf(spec.docker_options), input.names, tools.problems);
  const limits = fieldsOf(fieldsOf(spec.resources).limits);
  const logs = fieldsOf(spec.logs);
  const env = { ...telemetry(input, tools), ...environment(input, tools.fill) };
  tools.problems.push(...sizeProblems(command, env));
  return {
    command: command.length === 0 ? undefined : command,
    env,
    ports: ports(wordsOf(spec.ports), tools.problems),
    mounts: mounts(input, tools),
    networks: [...new Set([...wordsOf(spec.networks), ...wordsOf([spec.network]).filter((name) => name !== "")])],
    networkMode: spec.network_mode === "host" || spec.network_mode === "none" ? spec.network_mode : "bridge",
    restart: parseRestartPolicy(textOf(spec.restart) ?? "") ?? { name: "unless-stopped", maximumRetryCount: 0 },
    extraHosts: wordsOf(spec.extra_hosts),
    capAdd: wordsOf(spec.cap_add),
    ulimits: ulimits(spec.ulimits, tools.problems),
    nanoCpus: parseCpu(textOf(limits.cpu) ?? ""),
    memoryBytes: parseMemory(textOf(limits.memory) ?? ""),
    log: { maxSize: textOf(logs.max_size) ?? "10m", maxFiles: integerOf(logs.max_files) ?? 3 },
    stopGraceMs: parseDuration(textOf(spec.stop_grace) ?? "") ?? stopGraceMs,
    stopSignal: textOf(spec.stop_signal),
    options: withOrigin(entrypoint.length === 0 ? options : { ...options, entrypoint }, input),
  };
}

/** Of whose making a container is, for whoever looks at it from outside. */
function withOrigin(options: EngineOptions, { origin, names }: ResolveInput): EngineOptions {
  if (origin === undefined) return options;
  const labels = { [names.label.block]: origin.block, [names.label.plugin]: origin.plugin };
  return { ...options, labels: { ...options.labels, ...labels } };
}

const initTimeoutMs = 10 * 60_000;

/** The init chain, in order. Resources and ulimits are not inherited; `docker_options` replaces the main container's. */
export function initChain(input: ResolveInput, tools: Tools): ResolvedInit[] {
  return listOf(input.manifest.spec.inits).map((init, index) => {
    const path = `spec.inits[${index}]`;
    const limits = fieldsOf(fieldsOf(init.resources).limits);
    const image = textOf(init.image);
    return {
      name: textOf(init.name) ?? "",
      image: image === undefined ? undefined : tools.fill(image, `${path}.image`),
      command: wordsOf(init.command).map((word, at) => tools.fill(word, `${path}.command[${at}]`)),
      timeoutMs: parseDuration(textOf(init.timeout) ?? "") ?? initTimeoutMs,
      retries: integerOf(init.retries) ?? 0,
      nanoCpus: parseCpu(textOf(limits.cpu) ?? ""),
      memoryBytes: parseMemory(textOf(limits.memory) ?? ""),
      ulimits: ulimits(init.ulimits, tools.problems),
      options: initOptions(init, input, tools.problems),
    };
  });
}

/** An entrypoint that is written is that of the main image: an init with an image of its own keeps the one it has. */
function initOptions(
  init: Record<string, unknown>,
  { manifest: { spec }, names }: ResolveInput,
  problems: ResolveProblem[],
): EngineOptions | undefined {
  if (init.docker_options !== undefined) return engineOptions(wordsOf(init.docker_options), names, problems);
  const hasOwnProgram = init.image !== undefined && wordsOf(spec.entrypoint).length > 0;
  return hasOwnProgram ? engineOptions(wordsOf(spec.docker_options), names, problems) : undefined;
}

/** A container that is made before the listener is open would never hear of it. */
function telemetry({ manifest, telemetry: listener }: ResolveInput, { problems }: Tools): Record<string, string> {
  const { scope, name, spec } = manifest;
  if (!wantsTelemetry(spec) || listener === undefined) return {};
  if (listener.url !== undefined) return telemetryEnv({ scope, name, url: listener.url });
  problems.push({ path: "spec.telemetry", message: "the listener for telemetry is not open yet", reason: "Other" });
  return {};
}

/** Later wins: env_from in order, config, the manifest's own, what the platform injects. */
function environment({ manifest, config, envFrom, names, origin }: ResolveInput, fill: Fill): Record<string, string> {
  const own = Object.entries(textMapOf(manifest.spec.env)).map(([key, value]): [string, string] => {
    return [key, fill(value, childPath("spec.env", key))];
  });
  const app: Record<string, string> = { ...Object.assign({}, ...envFrom), ...config, ...Object.fromEntries(own) };
  const identity = { SCOPE: manifest.scope, NAME: manifest.name };
  const url = origin?.controllerUrl;
  const origins: Record<string, string> = url === undefined ? {} : { CONTROLLER_URL: url };
  return { ...app, ...injectedEnv(names, { ...identity, ...origins }, app) };
}

/** Config is no part of the manifest: what it makes of the environment is only known here. */
function sizeProblems(command: readonly string[], env: Record<string, string>): ResolveProblem[] {
  const variables = Object.entries(env).map(([key, value]) => ({ path: `spec.env.${key}`, text: `${key}=${value}` }));
  const words = command.map((text, index) => ({ path: `spec.command[${index}]`, text }));
  const tooLong = [...words, ...variables].flatMap(({ path, text }): ResolveProblem[] => {
    const message = argumentFault(text);
    return message === undefined ? [] : [{ path, message, reason: "Other" }];
  });
  const all = argumentsFault([...words, ...variables].map(({ text }) => text));
  return all === undefined ? tooLong : [...tooLong, { path: "spec.env", message: all, reason: "Other" }];
}

function mounts(input: ResolveInput, { fill, problems }: Tools): Mount[] {
  const { spec, scope } = input.manifest;
  const digests = textMapOf(spec._asset_digests);
  const entries = wordsOf(spec.volumes);
  return entries.flatMap((text, index): Mount[] => {
    const path = `spec.volumes[${index}]`;
    const mount = parseVolume(text);
    if (!mount.ok) {
      problems.push({ path, message: mount.error, reason: "Other" });
      return [];
    }
    const volume = namedVolume(scope, mount.value);
    if (volume !== undefined) {
      const { target, readOnly } = mount.value;
      const source = engineVolumeName(volume, input.names, input.isPlainVolume);
      return [{ type: "volume", source, target, readOnly, volume }];
    }
    const digest = assetDigest(placeholdersIn(mount.value.source)[0], digests);
    const source = fill(mount.value.source, path);
    return [{ ...mount.value, source, ...(digest === undefined ? {} : { assetDigest: digest }) }];
  });
}

function ports(entries: string[], problems: ResolveProblem[]): PortBinding[] {
  return entries.flatMap((text, index) => {
    const port = parsePort(text);
    if (port.ok) return [port.value];
    problems.push({ path: `spec.ports[${index}]`, message: port.error, reason: "Other" });
    return [];
  });
}

function ulimits(written: unknown, problems: ResolveProblem[]): Ulimit[] {
  return Object.entries(textMapOf(written)).flatMap(([name, text]) => {
    const limit = parseUlimit(name, text);
    if (limit.ok) return [limit.value];
    problems.push({ path: childPath("spec.ulimits", name), message: limit.error, reason: "Other" });
    return [];
  });
}

/** Labels of the platform cannot be given by hand: identity is read from them. */
function engineOptions(entries: string[], names: Naming, problems: ResolveProblem[]): EngineOptions {
  const { options, problems: faults } = parseDockerOptions(entries, "spec.docker_options");
  for (const fault of faults) problems.push({ ...fault, reason: "Other" });
  if (options.labels === undefined) return options;
  const labels = Object.entries(options.labels).filter(([key]) => !isPlatformLabel(key, names));
  return { ...options, labels: Object.fromEntries(labels) };
}

export function isPlatformLabel(key: string, names: Naming): boolean {
  return key === names.label.createdBy || key.startsWith(`${names.prefix}.`);
}
