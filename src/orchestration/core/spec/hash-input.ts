import { podDefaults, probeDefaults, probeNames } from "../../api/kinds/defaults.ts";
import type { CoreKind, Spec } from "../../api/manifest.ts";
import { isFields } from "../../../base/pure/fields.ts";
import { containerInput, initInput } from "./container.ts";
import { decodeSpec } from "./decode.ts";
import { type Fields, fieldsOf, listOf, textMapOf, textOf } from "./lenient.ts";
import type { DecodedPod } from "./pod.ts";
import { probeMs, timingOf } from "./probes.ts";
import { dropEmpty, durationInput, unless } from "./rows.ts";

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

/** The size of a claim is for people only. */
function claimInput(spec: Spec): Fields[] {
  const claims = listOf(spec.volume_claims).map(({ name, mount_path }) => ({ name, mount_path }));
  return claims.sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1));
}
