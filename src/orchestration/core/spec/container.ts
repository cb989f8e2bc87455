import { containerDefaults, initDefaults } from "../../api/kinds/defaults.ts";
import { parseDuration } from "../../../base/pure/duration.ts";
import { isFields } from "../../../base/pure/fields.ts";
import type { Parsed } from "../../../base/pure/parsed.ts";
import { parseCpu, parseMemory } from "../../../base/pure/quantity.ts";
import { parseUlimit, type Ulimit } from "../ulimits.ts";
import { parseVolumeOwner } from "../volume-owner.ts";
import { parseVolume, type WrittenMount } from "../volumes.ts";
import type { VolumeOwner } from "../workload.ts";
import { type Fields, fieldsOf, integerOf, listOf, msOf, textMapOf, textOf, wordsOf } from "./lenient.ts";

/** An entry as written, and what it says or why it cannot be read. */
export interface Entry<T> {
  readonly text: string;
  readonly read: Parsed<T>;
}

/** The part of a spec that describes the container, whatever the kind, with its defaults. */
export interface DecodedContainer {
  /** Undefined: one that is built here. */
  image: string | undefined;
  /** Whether it has a block that says how it is built. */
  isBuilt: boolean;
  buildId: string | undefined;
  buildArgs: Texts;
  pull: "missing" | "always";
  entrypoint: readonly string[];
  command: readonly string[];
  env: Texts;
  envFrom: readonly string[];
  volumes: readonly Entry<WrittenMount>[];
  /** Undefined: volumes keep the owner that the engine gives them. */
  volumeOwner: Entry<VolumeOwner> | undefined;
  /** Extra networks as written, without `network`, the older field for one more. */
  networks: readonly string[];
  network: string | undefined;
  networkMode: "bridge" | "host" | "none";
  extraHosts: readonly string[];
  capAdd: readonly string[];
  ulimits: readonly NamedEntry<Ulimit>[];
  /** Undefined: as its probes and its image make useful. */
  init: boolean | undefined;
  dockerOptions: readonly string[];
  wantsTelemetry: boolean;
  limits: Limits;
  log: { readonly maxSize: string; readonly maxFiles: number };
  stopGraceMs: number;
  stopSignal: string | undefined;
  /** Sha256 by asset reference, written by the server. */
  assetDigests: Texts;
  /** Assets that it depends on without a reference in another field. */
  dependsOn: readonly string[];
  postDeploy: readonly string[];
  inits: readonly DecodedInit[];
}

/** One container to run to its end before a replica is made. */
export interface DecodedInit {
  name: string;
  /** Undefined: the main container's. */
  image: string | undefined;
  command: readonly string[];
  timeoutMs: number;
  retries: number;
  limits: Limits;
  ulimits: readonly NamedEntry<Ulimit>[];
  /** Undefined: the main container's. */
  dockerOptions: readonly string[] | undefined;
}

type Texts = Readonly<Record<string, string>>;

interface NamedEntry<T> extends Entry<T> {
  readonly name: string;
}

/** Limits as written, and as numbers where they can be read. */
interface Limits {
  readonly cpu: string | undefined;
  readonly nanoCpus: number | undefined;
  readonly memory: string | undefined;
  readonly memoryBytes: number | undefined;
}

export const stopGraceMs = parseDuration(containerDefaults.stopGrace) ?? 0;
export const initTimeoutMs = parseDuration(initDefaults.timeout) ?? 0;

export function decodeContainer(spec: Fields): DecodedContainer {
  const logs = fieldsOf(spec.logs);
  return {
    image: textOf(spec.image),
    isBuilt: isFields(spec.build),
    buildId: textOf(fieldsOf(spec.build).id),
    buildArgs: textMapOf(spec.build_args),
    pull: spec.pull === "always" ? "always" : containerDefaults.pull,
    entrypoint: wordsOf(spec.entrypoint),
    command: wordsOf(spec.command),
    env: textMapOf(spec.env),
    envFrom: wordsOf(spec.env_from),
    volumes: wordsOf(spec.volumes).map((text) => ({ text, read: parseVolume(text) })),
    volumeOwner: volumeOwnerOf(spec.volume_owner),
    networks: wordsOf(spec.networks),
    network: textOf(spec.network),
    networkMode:
      spec.network_mode === "host" || spec.network_mode === "none" ? spec.network_mode : containerDefaults.networkMode,
    extraHosts: wordsOf(spec.extra_hosts),
    capAdd: wordsOf(spec.cap_add),
    ulimits: ulimitsOf(spec.ulimits),
    init: typeof spec.init === "boolean" ? spec.init : undefined,
    dockerOptions: wordsOf(spec.docker_options),
    wantsTelemetry: spec.telemetry === true,
    limits: limitsOf(spec.resources),
    log: {
      maxSize: textOf(logs.max_size) ?? containerDefaults.logSize,
      maxFiles: integerOf(logs.max_files) ?? containerDefaults.logFiles,
    },
    stopGraceMs: msOf(spec.stop_grace) ?? stopGraceMs,
    stopSignal: textOf(spec.stop_signal),
    assetDigests: textMapOf(spec._asset_digests),
    dependsOn: wordsOf(fieldsOf(spec.depends_on).assets),
    postDeploy: wordsOf(spec.post_deploy),
    inits: listOf(spec.inits).map(decodeInit),
  };
}

/** The extra networks, each once. */
export function networkNames({ networks, network }: Pick<DecodedContainer, "networks" | "network">): string[] {
  return [...new Set([...networks, ...(network === undefined ? [] : [network])])];
}

function volumeOwnerOf(written: unknown): Entry<VolumeOwner> | undefined {
  const text = textOf(written);
  return text === undefined ? undefined : { text, read: parseVolumeOwner(text) };
}

function decodeInit(init: Fields): DecodedInit {
  return {
    name: textOf(init.name) ?? "",
    image: textOf(init.image),
    command: wordsOf(init.command),
    timeoutMs: msOf(init.timeout) ?? initTimeoutMs,
    retries: integerOf(init.retries) ?? initDefaults.retries,
    limits: limitsOf(init.resources),
    ulimits: ulimitsOf(init.ulimits),
    dockerOptions: Array.isArray(init.docker_options) ? wordsOf(init.docker_options) : undefined,
  };
}

function limitsOf(resources: unknown): Limits {
  const { cpu, memory } = fieldsOf(fieldsOf(resources).limits);
  const [cpuText, memoryText] = [
    typeof cpu === "string" ? cpu : undefined,
    typeof memory === "string" ? memory : undefined,
  ];
  return {
    cpu: cpuText,
    nanoCpus: cpuText === undefined ? undefined : parseCpu(cpuText),
    memory: memoryText,
    memoryBytes: memoryText === undefined ? undefined : parseMemory(memoryText),
  };
}

function ulimitsOf(written: unknown): NamedEntry<Ulimit>[] {
  return Object.entries(textMapOf(written)).map(([name, text]) => ({ name, text, read: parseUlimit(name, text) }));
}
