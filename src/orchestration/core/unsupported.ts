import { deploymentFields } from "../api/kinds/deployment.ts";
import type { CoreKind, Spec } from "../api/manifest.ts";
import { decodeSpec } from "./spec/decode.ts";
import type { DecodedIngress } from "./spec/ingress.ts";
import type { DecodedPod } from "./spec/pod.ts";

const fields: Record<string, string> = {
  post_deploy: "post_deploy: stored; it runs no shell lines, use release commands",
  build_args: "build_args: stored; write build.args",
  keep_releases: "keep_releases: stored; images stay as long as a kept release needs them",
  env_file: "env_file: stored; files are read by the client only, the server uses env and config",
  health_check:
    "health_check: stored; the ingress makes no checks of its own, a replica enters and leaves by its readiness probe",
};

/** Defaults that ask for nothing: the contract's own client (docs/other-clients.md) always writes these fields. */
const defaults: Record<string, unknown> = {
  keep_releases: deploymentFields.keep_releases.default,
  health_check: deploymentFields.health_check.default,
};

const healthCommand = "health_check: stored; the command is not run, probes.readiness.exec is what checks a pod";

/** What of a manifest this version keeps but does not act upon, for warnings and status; empty when all is in force. */
export function notActedUpon(kind: CoreKind, spec: Spec): string[] {
  if (kind === "ingress") return ofIngress(decodeSpec(kind, spec));
  if (kind !== "deployment" && kind !== "statefulset") return [];
  const unused = Object.entries(fields).flatMap(([field, text]) => {
    if (!isWritten(spec[field]) || spec[field] === defaults[field]) return [];
    return [field === "health_check" && isCommand(spec[field]) ? healthCommand : text];
  });
  return [...unused, ...loneRecovery(decodeSpec(kind, spec))];
}

const activeChecks =
  "lb.interval: stored; the ingress makes no checks of its own, a replica enters and leaves by its readiness probe";

function ofIngress({ plugin, hasActiveChecks }: DecodedIngress): string[] {
  return plugin === undefined && hasActiveChecks ? [activeChecks] : [];
}

/** In a statefulset, a text that is not a path is a command. */
function isCommand(healthCheck: unknown): boolean {
  return typeof healthCheck === "string" && !healthCheck.startsWith("/");
}

function loneRecovery({ onProbe }: DecodedPod): string[] {
  if (onProbe === undefined || onProbe.recovery.length === 0 || onProbe.failure.length > 0) return [];
  return ["on_probe.recovery: never sent without on_probe.failure; a recovery follows a failure that was sent"];
}

function isWritten(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}
