import type { Container, EnvVar, Probe, ResourceRequirements } from "kubernetes-types/core/v1";
import { parseDuration } from "../../../../base/pure/duration.ts";
import {
  fieldsOf,
  integerOf,
  listOf,
  textMapOf,
  textOf,
  wordsOf,
} from "../../../../orchestration/core/spec/lenient.ts";
import { placeholdersIn } from "../../../../orchestration/core/placeholders.ts";
import { type Exportable, loseOthers } from "../exportable.ts";

type Fields = Record<string, unknown>;

/** Whole seconds, at least one, of a duration text; undefined where there is none. */
export function secondsOf(value: unknown, least = 1): number | undefined {
  const ms = typeof value === "string" ? parseDuration(value) : undefined;
  return ms === undefined ? undefined : Math.max(least, Math.ceil(ms / 1_000));
}

/** With `$(NAME)` escaped, which Kubernetes would replace. */
function verbatim(text: string): string {
  return text.replaceAll(/\$(?=\$*\()/g, "$$$$");
}

/** Fields of a container that every kind with containers has, without its volumes. */
export function containerOf(from: Exportable, spec: Fields, path: string): Container {
  const image = textOf(spec.image) ?? `${from.scope}-${from.name}:latest`;
  if (spec.build !== undefined) {
    from.lose(`${path}.build`, `is not done by Kubernetes: push the image to a registry as ${image}`);
  }
  const entrypoint = wordsOf(spec.entrypoint).map(verbatim);
  const command = wordsOf(spec.command).map(verbatim);
  const env = envOf(from, spec, path);
  const resources = resourcesOf(spec);
  return {
    name: "main",
    image,
    imagePullPolicy: spec.pull === "always" ? "Always" : "IfNotPresent",
    ...(entrypoint.length === 0 ? {} : { command: entrypoint }),
    ...(command.length === 0 ? {} : { args: command }),
    ...(env.length === 0 ? {} : { env }),
    ...(resources === undefined ? {} : { resources }),
  };
}

function envOf(from: Exportable, spec: Fields, path: string): EnvVar[] {
  return Object.entries(textMapOf(spec.env)).map(([name, value]) => {
    if (placeholdersIn(value).length > 0) {
      from.lose(`${path}.env.${name}`, "holds a reference that only berth resolves: write the value");
    }
    return { name, value: verbatim(value) };
  });
}

/** A thousand is a small letter there. */
function quantity(text: string): string {
  return text.replace(/K$/, "k");
}

function resourcesOf(spec: Fields): ResourceRequirements | undefined {
  const { cpu, memory } = fieldsOf(fieldsOf(spec.resources).limits);
  const limits = {
    ...(textOf(cpu) === undefined ? {} : { cpu: String(cpu) }),
    ...(textOf(memory) === undefined ? {} : { memory: quantity(String(memory)) }),
  };
  return Object.keys(limits).length === 0 ? undefined : { limits };
}

/** Names of the probes here and there. */
const probeFields = { startup: "startupProbe", liveness: "livenessProbe", readiness: "readinessProbe" } as const;

export function probesOf(
  from: Exportable,
  spec: Fields,
): Pick<Container, (typeof probeFields)[keyof typeof probeFields]> {
  const probes = fieldsOf(spec.probes);
  const found = Object.entries(probeFields).flatMap(([name, field]) => {
    const probe = probeOf(from, probes[name], { path: `spec.probes.${name}`, single: name !== "readiness" });
    return probe === undefined ? [] : [[field, probe] as const];
  });
  return Object.fromEntries(found);
}

function probeOf(
  { lose }: Exportable,
  value: unknown,
  { path, single }: { path: string; single: boolean },
): Probe | undefined {
  const probe = fieldsOf(value);
  const { http_get: http, tcp_socket: tcp, exec } = probe;
  if (http === undefined && tcp === undefined && exec === undefined) return undefined;
  const successes = integerOf(probe.success_threshold);
  if (single && successes !== undefined && successes > 1)
    lose(`${path}.success_threshold`, "is always 1 for this probe");
  const delay = secondsOf(probe.initial_delay, 0);
  const { path: at = "/", port, scheme, http_headers: headers } = fieldsOf(http);
  const httpHeaders = Object.entries(textMapOf(headers)).map(([name, text]) => ({ name, value: text }));
  return {
    ...(http === undefined
      ? {}
      : {
          httpGet: {
            path: String(at),
            port: integerOf(port) ?? 80,
            ...(scheme === "https" ? { scheme: "HTTPS" } : {}),
            ...(httpHeaders.length === 0 ? {} : { httpHeaders }),
          },
        }),
    ...(tcp === undefined ? {} : { tcpSocket: { port: integerOf(fieldsOf(tcp).port) ?? 80 } }),
    ...(exec === undefined ? {} : { exec: { command: [...wordsOf(fieldsOf(exec).command)] } }),
    ...(delay === undefined || delay === 0 ? {} : { initialDelaySeconds: delay }),
    periodSeconds: secondsOf(probe.period) ?? 10,
    timeoutSeconds: secondsOf(probe.timeout) ?? 1,
    failureThreshold: integerOf(probe.failure_threshold) ?? 3,
    ...(successes === undefined || single ? {} : { successThreshold: successes }),
  };
}

/** Containers that run before the main one. */
export function initsOf(from: Exportable, spec: Fields, image: string): Container[] {
  return listOf(spec.inits).map((init, index) => {
    const path = `spec.inits[${index}]`;
    loseOthers(from, init, { path, read: ["name", "image", "command", "resources"] });
    const resources = resourcesOf(init);
    return {
      name: textOf(init.name) ?? `init-${index}`,
      image: textOf(init.image) ?? image,
      args: wordsOf(init.command).map(verbatim),
      resources,
    };
  });
}
