import { containerDefaults, initDefaults } from "../../api/kinds/defaults.ts";
import { parseDuration } from "../../../base/pure/duration.ts";
import { isFields } from "../../../base/pure/fields.ts";
import type { Parsed } from "../../../base/pure/parsed.ts";
import { parseCpu, parseMemory } from "../../../base/pure/quantity.ts";
import { parseUlimit, type Ulimit } from "../ulimits.ts";
import { parseVolumeOwner } from "../volume-owner.ts";
import { parseVolume, type WrittenMount } from "../volumes.ts";
import type { VolumeOwner } from "../workload.ts";
import { fieldsOf, integerOf, listOf, msOf, textMapOf, textOf, wordsOf } from "./lenient.ts";
import { optionRows, passedRows } from "./passed.ts";
import {
  type Decoded,
  decoderOf,
  dropEmpty,
  durationInput,
  field,
  hasherOf,
  type Row,
  uncounted,
  unless,
} from "./rows.ts";

/** An entry as written, and what it says or why it cannot be read. */
export interface Entry<T> {
  readonly text: string;
  readonly read: Parsed<T>;
}

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

const initTimeoutMs = parseDuration(initDefaults.timeout) ?? 0;

/** Limits and open files, which an init container has of its own. */
const boundRows = {
  limits: field("resources", limitsOf, { value: limitInput }),
  ulimits: field("ulimits", ulimitsOf, { value: textsByName }),
};

const initRows = {
  name: field("name", (written) => textOf(written) ?? "", { value: textOf }),
  /** Undefined: the main container's. */
  image: field("image", textOf),
  command: field("command", wordsOf),
  timeoutMs: field("timeout", (written) => msOf(written) ?? initTimeoutMs, {
    value: (ms, written) => durationInput(initTimeoutMs, ms, written),
    as: "timeout_ms",
  }),
  retries: field("retries", (written) => integerOf(written) ?? initDefaults.retries, {
    value: (count) => unless(initDefaults.retries, count),
  }),
  ...boundRows,
  /** Undefined: the main container's. */
  dockerOptions: field("docker_options", (written) => (Array.isArray(written) ? wordsOf(written) : undefined), {
    value: (replaced) => replaced && { replaced },
  }),
};

/** One container to run to its end before a replica is made. */
export type DecodedInit = Decoded<typeof initRows>;

const decodeInit = decoderOf(initRows);
export const initInput = hasherOf(initRows);

/** The hash knows extra networks as one list. */
const network: Row<string | undefined> = {
  read: (spec) => textOf(spec.network),
  as: "networks",
  hash: (value, spec) => networkNames({ networks: wordsOf(spec.networks), network: value }).sort(),
};

const containerRows = {
  /** Undefined: one that is built here. */
  image: field("image", textOf),
  /** Whether it has a block that says how it is built. */
  isBuilt: uncounted(({ build }) => isFields(build)),
  buildId: field("build", (written) => textOf(fieldsOf(written).id)),
  buildArgs: field("build_args", textMapOf),
  pull: uncounted(({ pull }) => (pull === "always" ? "always" : containerDefaults.pull)),
  entrypoint: field("entrypoint", wordsOf),
  command: field("command", wordsOf),
  env: field("env", textMapOf),
  envFrom: field("env_from", wordsOf),
  volumes: field("volumes", volumesOf, { value: (entries) => entries.map(({ text }) => text) }),
  /** Undefined: volumes keep the owner that the engine gives them. */
  volumeOwner: field("volume_owner", volumeOwnerOf, { value: (owner) => owner?.text }),
  /** Extra networks as written, without `network`, the older field for one more. */
  networks: field("networks", wordsOf, { value: () => undefined }),
  network,
  ...passedRows,
  ...boundRows,
  ...optionRows,
  dockerOptions: field("docker_options", wordsOf),
  wantsTelemetry: field("telemetry", (written) => written === true, { value: (wanted) => wanted || undefined }),
  /** Sha256 by asset reference, written by the server. */
  assetDigests: field("_asset_digests", textMapOf, { as: "assets" }),
  /** Assets that it depends on without a reference in another field. */
  dependsOn: uncounted((spec) => wordsOf(fieldsOf(spec.depends_on).assets)),
  postDeploy: uncounted((spec) => wordsOf(spec.post_deploy)),
  inits: uncounted((spec) => listOf(spec.inits).map(decodeInit)),
};

/** The part of a spec that describes the container, whatever the kind, with its defaults. */
export type DecodedContainer = Decoded<typeof containerRows>;

export const decodeContainer = decoderOf(containerRows);
export const containerInput = hasherOf(containerRows);

/** The extra networks, each once. */
export function networkNames({
  networks,
  network: more,
}: {
  networks: readonly string[];
  network: string | undefined;
}): string[] {
  return [...new Set([...networks, ...(more === undefined ? [] : [more])])];
}

function volumesOf(written: unknown): readonly Entry<WrittenMount>[] {
  return wordsOf(written).map((text) => ({ text, read: parseVolume(text) }));
}

function volumeOwnerOf(written: unknown): Entry<VolumeOwner> | undefined {
  const text = textOf(written);
  return text === undefined ? undefined : { text, read: parseVolumeOwner(text) };
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

function limitInput(limits: Limits): Record<string, unknown> {
  return dropEmpty({ cpu: limits.nanoCpus ?? limits.cpu, memory: limits.memoryBytes ?? limits.memory });
}

function textsByName(entries: readonly NamedEntry<unknown>[]): Record<string, string> {
  return Object.fromEntries(entries.map(({ name, text }) => [name, text]));
}
