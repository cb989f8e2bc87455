import { containerDefaults } from "../../api/kinds/defaults.ts";
import { parseDuration } from "../../../base/pure/duration.ts";
import { fieldsOf, integerOf, msOf, textOf, wordsOf } from "./lenient.ts";
import { type Decoded, decoderOf, durationInput, field, type Row, sortedSet, unless } from "./rows.ts";

const stopGraceMs = parseDuration(containerDefaults.stopGrace) ?? 0;

const logs: Row<{ readonly maxSize: string; readonly maxFiles: number }> = {
  read: ({ logs: written }) => ({
    maxSize: textOf(fieldsOf(written).max_size) ?? containerDefaults.logSize,
    maxFiles: integerOf(fieldsOf(written).max_files) ?? containerDefaults.logFiles,
  }),
  as: undefined,
  hash: ({ maxSize, maxFiles }) => ({
    log_size: unless(containerDefaults.logSize, maxSize),
    log_files: unless(containerDefaults.logFiles, maxFiles),
  }),
};

/**
 * Fields that the engine gets as they are decoded. Template and spec of a container have them under these names, and
 * nothing on the way names them again: what is added here only has to be sent to the engine (`engine/docker/create-options.ts`).
 */
export const passedRows = {
  networkMode: field("network_mode", networkModeOf, {
    value: (_, written) => unless(containerDefaults.networkMode, textOf(written)),
  }),
  extraHosts: field("extra_hosts", wordsOf, { value: sortedSet }),
  capAdd: field("cap_add", wordsOf, { value: sortedSet }),
  log: logs,
  /** Milliseconds between the stop signal and the kill. */
  stopGraceMs: field("stop_grace", (written) => msOf(written) ?? stopGraceMs, {
    value: (ms, written) => durationInput(stopGraceMs, ms, written),
    as: "stop_grace_ms",
  }),
  /** Undefined: that of the image. */
  stopSignal: field("stop_signal", textOf),
};

/**
 * Fields that mean the same as a flag of `docker_options`, under the names that `EngineOptions` has for them. They count
 * even at the value that the engine has by itself: left out, the image may decide.
 */
export const optionRows = {
  /** Undefined: as its probes and its image make useful. */
  init: field("init", (written) => (typeof written === "boolean" ? written : undefined)),
};

export type PassedOn = Decoded<typeof passedRows>;

/** The passed fields of a spec, or their defaults where it is empty. */
export const decodePassed = decoderOf(passedRows);

/** The passed fields of what has been decoded. */
export function passedOn(decoded: PassedOn): PassedOn {
  const passed: Partial<Record<keyof PassedOn, unknown>> = {};
  for (const name of passedNames) passed[name] = decoded[name];
  return passed as PassedOn;
}

const passedNames = Object.keys(passedRows) as (keyof PassedOn)[];

export const decodeOptions = decoderOf(optionRows);

type OptionName = keyof typeof optionRows;

const optionNames = Object.keys(optionRows) as OptionName[];

/** The engine options that fields set. */
export function optionsOf(decoded: Decoded<typeof optionRows>): Partial<Decoded<typeof optionRows>> {
  const options: Partial<Record<OptionName, unknown>> = {};
  for (const name of optionNames) if (decoded[name] !== undefined) options[name] = decoded[name];
  return options as Partial<Decoded<typeof optionRows>>;
}

/** The field of a spec that a flag of `docker run` has the name of. */
export function fieldOfFlag(flag: string): string | undefined {
  const name = flag.replace(/^--/, "").replaceAll("-", "_");
  return fieldNames.includes(name) ? name : undefined;
}

const fieldNames: readonly (string | undefined)[] = [...Object.values(passedRows), ...Object.values(optionRows)].map(
  ({ field: name }) => name,
);

function networkModeOf(written: unknown): "bridge" | "host" | "none" {
  return written === "host" || written === "none" ? written : containerDefaults.networkMode;
}
