import type { CoreKind, Spec } from "../api/manifest.ts";
import { containerOf } from "./spec/decode.ts";

/** Where the containers of a manifest send their telemetry. */
interface TelemetryTarget {
  scope: string;
  name: string;
  url: string;
}

/** One in each slot of the store of metrics. */
const exportIntervalMs = 15_000;

/** Whether the containers of a manifest are to send telemetry, those of a cron job included. */
export function asksForTelemetry({ key, spec }: { key: { kind: CoreKind }; spec: Spec }): boolean {
  return containerOf(key.kind, spec)?.container.wantsTelemetry === true;
}

/** The variables by which OpenTelemetry finds the server; an app that has one of them keeps its own. */
export function telemetryEnv({ scope, name, url }: TelemetryTarget): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
    OTEL_METRIC_EXPORT_INTERVAL: String(exportIntervalMs),
    OTEL_SERVICE_NAME: name,
    [attributesName]: attributesOf(scope),
  };
}

const attributesName = "OTEL_RESOURCE_ATTRIBUTES";
const attributesOf = (scope: string) => `service.namespace=${scope}`;

/** What tells replicas apart is added to what `telemetryEnv` wrote, and to nothing that the app has itself. */
export function instanceEnv(
  env: Readonly<Record<string, string>>,
  { scope, instance }: { scope: string; instance: string },
): Record<string, string> {
  const own = env[attributesName];
  return own === attributesOf(scope) ? { [attributesName]: `${own},service.instance.id=${instance}` } : {};
}
