import { podDefaults } from "../api/kinds/defaults.ts";
import { argumentFault, argumentsFault, isShort } from "./argument-size.ts";
import { parseDockerOptions } from "./docker-options.ts";
import { engineVolumeName, namedVolume, ownsVolume } from "./named-volumes.ts";
import { type Naming, injectedEnv } from "./naming.ts";
import { childPath } from "../../base/pure/path.ts";
import { placeholdersIn } from "./placeholders.ts";
import { assetDigest, type Fill, type ResolveProblem } from "./resolve-placeholders.ts";
import type { ResolveInput } from "./resolve-input.ts";
import { type DecodedContainer, type DecodedInit, type Entry, networkNames } from "./spec/container.ts";
import { optionsOf, passedOn } from "./spec/passed.ts";
import type { DecodedPod } from "./spec/pod.ts";
import { hasExecProbe } from "./spec/probes.ts";
import { mayHoldPlaceholder } from "./spec-texts.ts";
import { telemetryEnv } from "./telemetry-env.ts";
import type { Ulimit } from "./ulimits.ts";
import { volumeOwner } from "./volume-owner.ts";
import type { ContainerTemplate, EngineOptions, Mount, ResolvedInit, ResolvedWorkload } from "./workload.ts";

interface Tools {
  fill: Fill;
  problems: ResolveProblem[];
}

/** What only pods have of a container. */
type PodPart = Pick<DecodedPod, "ports" | "restart" | "probes">;

const ofJobs: PodPart = { ports: [], restart: { name: podDefaults.restart, maximumRetryCount: 0 }, probes: {} };

/** What all replicas share, from a stored spec. Entries that cannot be read become problems and are left out. */
export function containerTemplate(
  input: ResolveInput,
  spec: DecodedContainer & Partial<PodPart>,
  tools: Tools,
): ContainerTemplate {
  const filled = (field: "entrypoint" | "command") =>
    spec[field].map((word, index) => tools.fill(word, `spec.${field}[${index}]`));
  const [entrypoint, command] = [filled("entrypoint"), filled("command")];
  const options = ownOptions(spec, input.names, tools.problems);
  const observed = telemetry(input, spec, tools);
  const own = environment(input, spec, tools.fill);
  const env = observed === undefined ? own : { ...observed, ...own };
  tools.problems.push(...sizeProblems(command, env));
  return {
    ...passedOn(spec),
    command: command.length === 0 ? undefined : command,
    env,
    ports: readable(spec.ports ?? ofJobs.ports, tools.problems, (_, index) => `spec.ports[${index}]`),
    mounts: mounts(input, spec, tools),
    networks: networkNames(spec),
    restart: spec.restart ?? ofJobs.restart,
    ulimits: ulimits(spec, tools.problems),
    nanoCpus: spec.limits.nanoCpus,
    memoryBytes: spec.limits.memoryBytes,
    options: withOrigin(entrypoint.length === 0 ? options : { ...options, entrypoint }, input),
    initUnlessOwn: options.init === undefined && hasExecProbe(spec.probes ?? ofJobs.probes),
  };
}

/** Those of `docker_options`, and of the fields that mean the same as one. */
function ownOptions(spec: DecodedContainer, names: Naming, problems: ResolveProblem[]): EngineOptions {
  return { ...engineOptions(spec.dockerOptions, names, problems), ...optionsOf(spec) };
}

/** Which block and plugin a container comes from, for tools outside of berth. */
function withOrigin(options: EngineOptions, { origin, names }: ResolveInput): EngineOptions {
  if (origin === undefined) return options;
  const labels = { [names.label.block]: origin.block, [names.label.plugin]: origin.plugin };
  return { ...options, labels: { ...options.labels, ...labels } };
}

/** The init chain, in order. Resources and ulimits are not inherited; `docker_options` replaces the main container's. */
export function initChain(input: ResolveInput, spec: DecodedContainer, tools: Tools): ResolvedInit[] {
  return spec.inits.map((init, index) => {
    const path = `spec.inits[${index}]`;
    return {
      name: init.name,
      image: init.image === undefined ? undefined : tools.fill(init.image, `${path}.image`),
      command: init.command.map((word, at) => tools.fill(word, `${path}.command[${at}]`)),
      timeoutMs: init.timeoutMs,
      retries: init.retries,
      nanoCpus: init.limits.nanoCpus,
      memoryBytes: init.limits.memoryBytes,
      ulimits: ulimits(init, tools.problems),
      options: initOptions(init, spec, { names: input.names, problems: tools.problems }),
    };
  });
}

/** An entrypoint that is written is that of the main image: an init with an image of its own keeps the one it has. */
function initOptions(
  init: DecodedInit,
  spec: DecodedContainer,
  { names, problems }: { names: Naming; problems: ResolveProblem[] },
): EngineOptions | undefined {
  if (init.dockerOptions !== undefined) return engineOptions(init.dockerOptions, names, problems);
  const hasOwnProgram = init.image !== undefined && spec.entrypoint.length > 0;
  return hasOwnProgram ? ownOptions(spec, names, problems) : undefined;
}

/** A container that is made before the listener is open would never hear of it. */
function telemetry(
  { manifest: { scope, name }, telemetry: listener }: ResolveInput,
  spec: DecodedContainer,
  { problems }: Tools,
): Record<string, string> | undefined {
  if (!spec.wantsTelemetry || listener === undefined) return undefined;
  if (listener.url !== undefined) return telemetryEnv({ scope, name, url: listener.url });
  problems.push({ path: "spec.telemetry", message: "the listener for telemetry is not open yet", reason: "Other" });
  return undefined;
}

/** Later wins: env_from in order, config, the manifest's own, what the platform injects. */
function environment(
  { manifest, config, envFrom, names, origin }: ResolveInput,
  spec: DecodedContainer,
  fill: Fill,
): Record<string, string> {
  const app: Record<string, string> = { ...Object.assign({}, ...envFrom), ...config, ...spec.env };
  for (const [key, value] of Object.entries(spec.env)) {
    if (mayHoldPlaceholder(value)) app[key] = fill(value, childPath("spec.env", key));
  }
  const identity = { SCOPE: manifest.scope, NAME: manifest.name };
  const url = origin?.controllerUrl;
  const origins: Record<string, string> = url === undefined ? {} : { CONTROLLER_URL: url };
  return Object.assign(app, injectedEnv(names, { ...identity, ...origins }, app));
}

/** Config is not part of the manifest: what it makes of the environment is only known here. */
function sizeProblems(command: readonly string[], env: Record<string, string>): ResolveProblem[] {
  if (isShort(command, env)) return [];
  const variables = Object.entries(env).map(([key, value]) => ({ path: `spec.env.${key}`, text: `${key}=${value}` }));
  const words = command.map((text, index) => ({ path: `spec.command[${index}]`, text }));
  const tooLong = [...words, ...variables].flatMap(({ path, text }): ResolveProblem[] => {
    const message = argumentFault(text);
    return message === undefined ? [] : [{ path, message, reason: "Other" }];
  });
  const all = argumentsFault([...words, ...variables].map(({ text }) => text));
  return all === undefined ? tooLong : [...tooLong, { path: "spec.env", message: all, reason: "Other" }];
}

function mounts(input: ResolveInput, spec: DecodedContainer, { fill, problems }: Tools): Mount[] {
  const { scope } = input.manifest;
  if (spec.volumeOwner?.read.ok === false) {
    problems.push({ path: "spec.volume_owner", message: spec.volumeOwner.read.error, reason: "Other" });
  }
  return spec.volumes.flatMap(({ read: mount }, index): Mount[] => {
    const path = `spec.volumes[${index}]`;
    if (!mount.ok) {
      problems.push({ path, message: mount.error, reason: "Other" });
      return [];
    }
    const volume = namedVolume(scope, mount.value);
    if (volume !== undefined) {
      const { target, readOnly } = mount.value;
      const source = engineVolumeName(volume, input.names, input.isPlainVolume);
      const owner = !readOnly && ownsVolume(scope, volume, input.names) ? volumeOwner(spec) : undefined;
      return [{ type: "volume", source, target, readOnly, volume, ...(owner === undefined ? {} : { owner }) }];
    }
    const digest = assetDigest(placeholdersIn(mount.value.source)[0], spec.assetDigests);
    const source = fill(mount.value.source, path);
    return [{ ...mount.value, source, ...(digest === undefined ? {} : { assetDigest: digest }) }];
  });
}

export function volumeClaims(pod: DecodedPod): ResolvedWorkload["volumeClaims"] {
  const owner = volumeOwner(pod);
  return pod.volumeClaims.flatMap(({ name, mountPath }) =>
    mountPath === undefined ? [] : [{ name, mountPath, owner }],
  );
}

function ulimits({ ulimits: entries }: Pick<DecodedInit, "ulimits">, problems: ResolveProblem[]): Ulimit[] {
  return readable(entries, problems, ({ name }) => childPath("spec.ulimits", name));
}

/** What can be read; the rest become problems at their paths. */
function readable<V, E extends Entry<V>>(
  entries: readonly (E & Entry<V>)[],
  problems: ResolveProblem[],
  pathOf: (entry: E, index: number) => string,
): V[] {
  return entries.flatMap((entry, index) => {
    if (entry.read.ok) return [entry.read.value];
    problems.push({ path: pathOf(entry, index), message: entry.read.error, reason: "Other" });
    return [];
  });
}

/** Labels of the platform cannot be given by hand: identity is read from them. */
function engineOptions(entries: readonly string[], names: Naming, problems: ResolveProblem[]): EngineOptions {
  const { options, problems: faults } = parseDockerOptions(entries, "spec.docker_options");
  for (const fault of faults) problems.push({ ...fault, reason: "Other" });
  if (options.labels === undefined) return options;
  const labels = Object.entries(options.labels).filter(([key]) => !isPlatformLabel(key, names));
  return { ...options, labels: Object.fromEntries(labels) };
}

export function isPlatformLabel(key: string, names: Naming): boolean {
  return key === names.label.createdBy || key.startsWith(`${names.prefix}.`);
}
