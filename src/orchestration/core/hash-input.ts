import type { CoreKind, Spec } from "../api/manifest.ts";
import { containerFieldsOf } from "./container-fields.ts";
import { parseDuration } from "../../base/pure/duration.ts";
import { fieldsOf, integerOf, listOf, textMapOf, textOf, wordsOf } from "./lenient.ts";
import { probeNames } from "../api/kinds/probe.ts";
import { parseCpu, parseMemory } from "../../base/pure/quantity.ts";
import { wantsTelemetry } from "./telemetry-env.ts";

type Fields = Record<string, unknown>;

/**
 * What the spec hash is taken over. A field that is absent, empty or at its default is left out, so that writing a
 * default changes nothing and a field that a later version adds leaves the hashes of older specs alone.
 */
export function hashInput(kind: CoreKind, spec: Spec): Fields {
  switch (kind) {
    case "deployment":
      return podInput(spec);
    case "statefulset":
      return dropEmpty({ ...podInput(spec), volume_claims: claimInput(spec) });
    case "job":
    case "cronjob": {
      const { fields } = containerFieldsOf(kind, spec);
      return dropEmpty({ ...containerInput(fields), labels: textMapOf(fields.labels) });
    }
    default:
      return spec;
  }
}

function podInput(spec: Spec): Fields {
  const probes = probeNames.map((name): [string, unknown] => [name, probeInput(spec.probes, name)]);
  return dropEmpty({
    ...containerInput(spec),
    ports: wordsOf(spec.ports),
    restart: unless("unless-stopped", textOf(spec.restart)),
    probes: dropEmpty(Object.fromEntries(probes)),
    inits: listOf(spec.inits).map(initInput),
  });
}

function containerInput(spec: Spec): Fields {
  const logs = fieldsOf(spec.logs);
  return dropEmpty({
    image: textOf(spec.image),
    entrypoint: wordsOf(spec.entrypoint),
    command: wordsOf(spec.command),
    volumes: wordsOf(spec.volumes),
    env: textMapOf(spec.env),
    env_from: wordsOf(spec.env_from),
    networks: sortedSet([...wordsOf(spec.networks), ...wordsOf([spec.network]).filter((name) => name !== "")]),
    network_mode: unless("bridge", textOf(spec.network_mode)),
    extra_hosts: sortedSet(wordsOf(spec.extra_hosts)),
    cap_add: sortedSet(wordsOf(spec.cap_add)),
    build: textOf(fieldsOf(spec.build).id),
    build_args: textMapOf(spec.build_args),
    ulimits: textMapOf(spec.ulimits),
    docker_options: wordsOf(spec.docker_options),
    telemetry: wantsTelemetry(spec) ? true : undefined,
    resources: resourceInput(spec.resources),
    log_size: unless("10m", textOf(logs.max_size)),
    log_files: unless(3, integerOf(logs.max_files)),
    stop_grace_ms: unless(10_000, durationInput(spec.stop_grace)),
    stop_signal: textOf(spec.stop_signal),
    assets: textMapOf(spec._asset_digests),
  });
}

function probeInput(probes: unknown, name: string): Fields | undefined {
  const probe = fieldsOf(probes)[name];
  if (probe === undefined) return undefined;
  const fields = fieldsOf(probe);
  const httpGet = fields.http_get === undefined ? undefined : fieldsOf(fields.http_get);
  const headers = textMapOf(httpGet?.http_headers);
  return dropEmpty({
    http_get: httpGet && { ...httpGet, scheme: unless("http", textOf(httpGet.scheme)), http_headers: headers },
    tcp_socket: fields.tcp_socket,
    exec: fields.exec,
    initial_delay_ms: unless(0, durationInput(fields.initial_delay)),
    period_ms: unless(10_000, durationInput(fields.period)),
    timeout_ms: unless(1_000, durationInput(fields.timeout)),
    failure_threshold: unless(3, integerOf(fields.failure_threshold)),
    success_threshold: unless(1, integerOf(fields.success_threshold)),
  });
}

function initInput(init: Fields): Fields {
  return dropEmpty({
    name: textOf(init.name),
    image: textOf(init.image),
    command: wordsOf(init.command),
    timeout_ms: unless(600_000, durationInput(init.timeout)),
    retries: unless(0, integerOf(init.retries)),
    resources: resourceInput(init.resources),
    ulimits: textMapOf(init.ulimits),
    docker_options: Array.isArray(init.docker_options) ? { replaced: wordsOf(init.docker_options) } : undefined,
  });
}

/** The size of a claim is for people only. */
function claimInput(spec: Spec): Fields[] {
  const claims = listOf(spec.volume_claims).map(({ name, mount_path }) => ({ name, mount_path }));
  return claims.sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1));
}

function resourceInput(resources: unknown): Fields {
  const { cpu, memory } = fieldsOf(fieldsOf(resources).limits);
  return dropEmpty({
    cpu: typeof cpu === "string" ? (parseCpu(cpu) ?? cpu) : undefined,
    memory: typeof memory === "string" ? (parseMemory(memory) ?? memory) : undefined,
  });
}

function durationInput(value: unknown): number | string | undefined {
  const text = textOf(value);
  return text === undefined ? undefined : (parseDuration(text) ?? text);
}

function unless<V>(fallback: V, value: V | undefined): V | undefined {
  return value === fallback ? undefined : value;
}

function sortedSet(words: string[]): string[] {
  return [...new Set(words)].sort();
}

function dropEmpty(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
