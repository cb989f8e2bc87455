import type { ContainerFields } from "../../api/kinds/container.ts";
import { argumentFault } from "../argument-size.ts";
import { capabilityFault } from "../capabilities.ts";
import { dockerSizes, parseDockerOptions, parseEngineSize } from "../docker-options.ts";
import { envFromTarget } from "../env-from.ts";
import { parseImageReference } from "../image-reference.ts";
import { childPath } from "../../../base/pure/path.ts";
import { isIpAddress } from "../../../base/pure/ip.ts";
import { parseAssetReference, placeholdersIn } from "../placeholders.ts";
import { referenceFault } from "../reported-values.ts";
import { optionRows } from "../spec/passed.ts";
import { stopSignalOk } from "../stop-signal.ts";
import { parseUlimit } from "../ulimits.ts";
import { durationRule } from "./duration.ts";
import { networkRules } from "./network.ts";
import { resourceRules } from "./resources.ts";
import { eachEntry, type Report, type RuleContext } from "./rule.ts";
import { bytesRule } from "./size.ts";
import { volumeRules } from "./volumes.ts";

/** Beyond it, nothing bounds what a container writes to the disk. */
const logFileMax = { bytes: 100 * 1024 ** 3, text: "100g" };

const envKeyPattern = /^[A-Za-z_][A-Za-z0-9_.-]{0,254}$/;

/** Rules of the fields that every kind with containers has. `path` is that of the object that holds them. */
export function containerRules(spec: ContainerFields, path: string, { report, limits }: RuleContext): void {
  imageRules(spec, path, report);
  envRules(spec, path, { report, limits });
  volumeRules(spec, path, report);
  networkRules(spec, path, report);
  hostRules(spec.extra_hosts ?? [], `${path}.extra_hosts`, report);
  capabilityRules(spec.cap_add ?? [], `${path}.cap_add`, report);
  ulimitRules(spec.ulimits ?? {}, `${path}.ulimits`, report);
  dockerOptionRules(spec.docker_options ?? [], `${path}.docker_options`, report);
  resourceRules(spec.resources, `${path}.resources`, report);
  logRules(spec.logs?.max_size, `${path}.logs.max_size`, report);
  durationRule(spec.stop_grace, `${path}.stop_grace`, { report });
  if (spec.stop_signal !== undefined && !stopSignalOk(spec.stop_signal)) {
    report(`${path}.stop_signal`, `"${spec.stop_signal}" is not a signal; write "SIGTERM" or a number up to 64`);
  }
  entrypointRules(spec, path, report);
  optionFieldRules(spec, path, report);
  commandRules(spec.command ?? [], `${path}.command`, report);
  dependencyRules(spec.depends_on?.assets ?? [], `${path}.depends_on.assets`, report);
}

export function imageRule(image: string | undefined, path: string, report: Report): void {
  if (image === undefined || image === "") return;
  placeholderRule(image, path, report);
  if (placeholdersIn(image).length === 0 && parseImageReference(image) === undefined) {
    report(path, `"${image}" is not an image reference; write "name:tag" or "registry.host/path/name:tag"`);
  }
}

export function ulimitRules(ulimits: Record<string, string>, path: string, report: Report): void {
  for (const [name, text] of Object.entries(ulimits)) {
    const limit = parseUlimit(name, text);
    if (!limit.ok) report(`${path}.${name}`, limit.error);
  }
}

export function dockerOptionRules(entries: readonly string[], path: string, report: Report): void {
  for (const problem of parseDockerOptions(entries, path).problems) report(problem.path, problem.message);
  for (const { bytes, text, path: at } of dockerSizes(entries, path)) bytesRule(bytes, { text, path: at, report });
}

export function commandRules(words: readonly string[], path: string, report: Report): void {
  eachEntry(words, path, (word, wordPath) => {
    placeholderRule(word, wordPath, report);
    const fault = argumentFault(word);
    if (fault !== undefined) report(wordPath, fault);
  });
}

function entrypointRules({ entrypoint, docker_options: options = [] }: ContainerFields, path: string, report: Report) {
  if (entrypoint === undefined) return;
  if (entrypoint.length === 0) report(`${path}.entrypoint`, "must not be empty; leave it out for the image's own");
  commandRules(entrypoint, `${path}.entrypoint`, report);
  if (parseDockerOptions(options, path).options.entrypoint !== undefined) {
    report(`${path}.entrypoint`, 'is also in docker_options, as "--entrypoint"; keep this one');
  }
}

/** A field and the flag that means the same. */
function optionFieldRules(spec: ContainerFields, path: string, report: Report): void {
  const { options } = parseDockerOptions(spec.docker_options ?? [], path);
  for (const [option, { field }] of Object.entries(optionRows)) {
    if (Reflect.get(spec, field) === undefined || !Object.hasOwn(options, option)) continue;
    report(`${path}.${field}`, `is also in docker_options, as "--${field.replaceAll("_", "-")}"; keep this one`);
  }
}

function placeholderRule(text: string, path: string, report: Report): void {
  for (const placeholder of placeholdersIn(text)) {
    if (placeholder.type === "malformed") {
      report(path, `"${placeholder.text}" is not a reference; ${placeholder.form}`);
    }
    const fault = placeholder.type === "ref" ? referenceFault(placeholder.kind, placeholder.field) : undefined;
    if (fault !== undefined) report(path, `"${placeholder.text}" is not a reference: ${fault}`);
  }
}

function imageRules(spec: ContainerFields, path: string, report: Report): void {
  if (spec.image && spec.build !== undefined) {
    report(`${path}.build`, "excludes image; keep one of the two");
  }
  imageRule(spec.image, `${path}.image`, report);
}

function envRules(spec: ContainerFields, path: string, { report, limits }: RuleContext): void {
  const entries = Object.entries(spec.env ?? {});
  if (entries.length > limits.envEntriesMax) {
    report(`${path}.env`, `has ${entries.length} entries; at most ${limits.envEntriesMax} are allowed`);
  }
  for (const [key, value] of entries) {
    if (!envKeyPattern.test(key)) {
      report(`${path}.env`, `"${key}" is not a variable name; use letters, digits, "_", "." and "-", no digit first`);
      continue;
    }
    const fault = argumentFault(`${key}=${value}`);
    if (fault === undefined && !value.includes("${")) continue;
    const entryPath = childPath(`${path}.env`, key);
    placeholderRule(value, entryPath, report);
    if (fault !== undefined) report(entryPath, fault);
  }
  eachEntry(spec.env_from ?? [], `${path}.env_from`, (entry, entryPath) => {
    if (envFromTarget(entry, "own") !== undefined) return;
    report(entryPath, `"${entry}" names no app; write "scope/name", or "name" in the own scope`);
  });
}

function hostRules(entries: readonly string[], path: string, report: Report): void {
  eachEntry(entries, path, (entry, entryPath) => {
    const [, address] = /^[A-Za-z0-9_][A-Za-z0-9_.-]*:(.+)$/.exec(entry) ?? [];
    if (address !== undefined && (address === "host-gateway" || isIpAddress(address))) return;
    report(entryPath, `"${entry}" is not a host entry; write "name:ip" or "name:host-gateway"`);
  });
}

function capabilityRules(entries: readonly string[], path: string, report: Report): void {
  eachEntry(entries, path, (entry, entryPath) => {
    const fault = capabilityFault(entry);
    if (fault !== undefined) report(entryPath, fault);
  });
}

function logRules(maxSize: string | undefined, path: string, report: Report): void {
  if (maxSize === undefined) return;
  const size = parseEngineSize(maxSize);
  if (!size.ok) report(path, `"${maxSize}" is not a size; write a number with k, m or g such as "10m"`);
  else bytesRule(size.value, { text: maxSize, path, report, most: logFileMax });
}

function dependencyRules(entries: readonly string[], path: string, report: Report): void {
  eachEntry(entries, path, (entry, entryPath) => {
    if (parseAssetReference(entry) !== undefined) return;
    report(entryPath, `"${entry}" names no asset file; write "name.key" or "scope.name.key"`);
  });
}
