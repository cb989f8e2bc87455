import { containerDefaults, initDefaults, podDefaults, probeDefaults } from "../../api/kinds/defaults.ts";
import { probeNames } from "../../api/kinds/probe.ts";
import type { CoreKind, Spec } from "../../api/manifest.ts";
import { parseDuration } from "../../../base/pure/duration.ts";
import { isFields } from "../../../base/pure/fields.ts";
import { type DecodedContainer, type DecodedInit, initTimeoutMs, networkNames, stopGraceMs } from "./container.ts";
import { decodeSpec } from "./decode.ts";
import { type Fields, fieldsOf, listOf, textMapOf, textOf } from "./lenient.ts";
import type { DecodedPod } from "./pod.ts";
import { probeMs, timingOf } from "./probes.ts";

/**
 * What the spec hash is taken over. A field that is absent, empty or at its default is left out, so that writing a
 * default changes nothing and a field that a later version adds leaves the hashes of older specs alone. What this
 * version cannot read counts as it is written, where it ever has: hashes outlive the version that made them.
 */
export function hashInput(kind: CoreKind, spec: Spec): Fields {
  switch (kind) {
    case "deployment":
      return podInput(decodeSpec(kind, spec), spec);
    case "statefulset":
      return dropEmpty({ ...podInput(decodeSpec(kind, spec), spec), volume_claims: claimInput(spec) });
    case "job": {
      const job = decodeSpec(kind, spec);
      return dropEmpty({ ...containerInput(job, spec), labels: job.labels });
    }
    case "cronjob": {
      const { job } = decodeSpec(kind, spec);
      return dropEmpty({ ...containerInput(job, fieldsOf(spec.job)), labels: job.labels });
    }
    default:
      return spec;
  }
}

function podInput(pod: DecodedPod, written: Spec): Fields {
  const inits = listOf(written.inits);
  return dropEmpty({
    ...containerInput(pod, written),
    ports: pod.ports.map(({ text }) => text),
    restart: unless(podDefaults.restart, pod.restartText),
    probes: probesInput(written.probes),
    inits: pod.inits.map((init, index) => initInput(init, inits[index] ?? {})),
  });
}

function containerInput(container: DecodedContainer, written: Fields): Fields {
  return dropEmpty({
    image: container.image,
    entrypoint: container.entrypoint,
    command: container.command,
    volumes: container.volumes.map(({ text }) => text),
    volume_owner: container.volumeOwner?.text,
    env: container.env,
    env_from: container.envFrom,
    networks: networkNames(container).sort(),
    network_mode: unless(containerDefaults.networkMode, textOf(written.network_mode)),
    extra_hosts: sortedSet(container.extraHosts),
    cap_add: sortedSet(container.capAdd),
    build: container.buildId,
    build_args: container.buildArgs,
    ulimits: ulimitInput(container),
    // Without it the image decides, so `false` is not a default that could be left out.
    init: container.init,
    docker_options: container.dockerOptions,
    telemetry: container.wantsTelemetry ? true : undefined,
    resources: limitInput(container),
    log_size: unless(containerDefaults.logSize, container.log.maxSize),
    log_files: unless(containerDefaults.logFiles, container.log.maxFiles),
    stop_grace_ms: durationInput(stopGraceMs, container.stopGraceMs, written.stop_grace),
    stop_signal: container.stopSignal,
    assets: container.assetDigests,
  });
}

function probesInput(written: unknown): Fields | undefined {
  if (!isFields(written)) return undefined;
  return dropEmpty(Object.fromEntries(probeNames.map((name) => [name, probeInput(written[name])])));
}

/** What a probe does counts as a whole, also what this version cannot read of it. */
function probeInput(probe: unknown): Fields | undefined {
  if (!isFields(probe)) return undefined;
  const { initialDelayMs, periodMs, timeoutMs, failureThreshold, successThreshold } = timingOf(probe);
  return dropEmpty({
    http_get: probe.http_get === undefined ? undefined : httpInput(fieldsOf(probe.http_get)),
    tcp_socket: probe.tcp_socket,
    exec: probe.exec,
    initial_delay_ms: durationInput(probeMs.initialDelay, initialDelayMs, probe.initial_delay),
    period_ms: durationInput(probeMs.period, periodMs, probe.period),
    timeout_ms: durationInput(probeMs.timeout, timeoutMs, probe.timeout),
    failure_threshold: unless(probeDefaults.failureThreshold, failureThreshold),
    success_threshold: unless(probeDefaults.successThreshold, successThreshold),
  });
}

function httpInput(written: Fields): Fields {
  const scheme = unless(probeDefaults.scheme, textOf(written.scheme));
  return { ...written, scheme, http_headers: textMapOf(written.http_headers) };
}

function initInput(init: DecodedInit, written: Fields): Fields {
  return dropEmpty({
    name: textOf(init.name),
    image: init.image,
    command: init.command,
    timeout_ms: durationInput(initTimeoutMs, init.timeoutMs, written.timeout),
    retries: unless(initDefaults.retries, init.retries),
    resources: limitInput(init),
    ulimits: ulimitInput(init),
    docker_options: init.dockerOptions && { replaced: init.dockerOptions },
  });
}

/** The size of a claim is for people only. */
function claimInput(spec: Spec): Fields[] {
  const claims = listOf(spec.volume_claims).map(({ name, mount_path }) => ({ name, mount_path }));
  return claims.sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1));
}

function limitInput({ limits }: Pick<DecodedInit, "limits">): Fields {
  return dropEmpty({ cpu: limits.nanoCpus ?? limits.cpu, memory: limits.memoryBytes ?? limits.memory });
}

function ulimitInput({ ulimits }: Pick<DecodedInit, "ulimits">): Fields {
  return Object.fromEntries(ulimits.map(({ name, text }) => [name, text]));
}

/** Milliseconds; the text where it is not a duration. */
function durationInput(fallbackMs: number, ms: number, written: unknown): number | string | undefined {
  if (ms !== fallbackMs) return ms;
  const text = textOf(written);
  return text === undefined || parseDuration(text) !== undefined ? undefined : text;
}

function unless<V>(fallback: V, value: V | undefined): V | undefined {
  return value === fallback ? undefined : value;
}

function sortedSet(words: readonly string[]): string[] {
  return [...new Set(words)].sort();
}

function dropEmpty(fields: Fields): Fields {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) if (!isEmpty(fields[name])) kept[name] = fields[name];
  return kept;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
