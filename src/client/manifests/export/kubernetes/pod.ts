import type { PersistentVolumeClaim, PodSpec, PodTemplateSpec } from "kubernetes-types/core/v1";
import { textOf, wordsOf } from "../../../../orchestration/core/spec/lenient.ts";
import { parseVolumeOwner } from "../../../../orchestration/core/volume-owner.ts";
import { type Exportable, loseOthers } from "../exportable.ts";
import { containerOf, initsOf, probesOf, secondsOf } from "./container.ts";
import { labelsOf } from "./names.ts";
import { fromOptions } from "./options.ts";
import { podVolumes } from "./volumes.ts";

interface Pod {
  template: PodTemplateSpec;
  claims: PersistentVolumeClaim[];
}

/** Fields that are read here, of every kind that has containers. */
const podFields = [
  ...["image", "build", "build_args", "pull", "entrypoint", "command", "env", "volumes", "network_mode", "extra_hosts"],
  "volume_owner",
  ...["cap_add", "docker_options", "resources", "stop_grace", "probes", "inits", "depends_on"],
];

/** Why other fields of pods do not carry over. */
const podAdvice: Record<string, string> = {
  env_from: "names config of other apps, which Kubernetes does not know: write the variables",
  networks: "has no counterpart: all pods reach each other; see NetworkPolicy",
  network: "has no counterpart: all pods reach each other; see NetworkPolicy",
  ulimits: "has no counterpart: the container runtime of the node sets them",
  logs: "has no counterpart: the node rotates logs",
  stop_signal: "has no counterpart: it is that of the image",
  restart: "has no counterpart: Kubernetes always restarts the containers of this kind",
  start_after: "has no counterpart: a container that starts too early is restarted",
  backup: "has no counterpart: see VolumeSnapshot, or a backup operator",
  release: "has no counterpart: run it as a Job before",
  telemetry: "has no counterpart: set OTEL_EXPORTER_OTLP_ENDPOINT to a collector",
  on_deploy: "has no counterpart",
  on_probe: "has no counterpart",
};

/** The pods of a workload. `path` is that of the spec which describes the container. */
export function podOf(
  from: Exportable,
  spec: Record<string, unknown>,
  { path, restartPolicy }: { path: string; restartPolicy: "Always" | "Never" },
): Pod {
  const options = fromOptions(from, spec, path);
  const container = containerOf(from, spec, path);
  const { volumes, mounts, claims } = podVolumes(from, spec, path);
  const allVolumes = [...volumes, ...options.volumes];
  const allMounts = [...mounts, ...options.mounts];
  const inits = initsOf(from, spec, container.image ?? "");
  const grace = secondsOf(spec.stop_grace, 0);
  const security = options.security;
  const podSpec: PodSpec = {
    ...(inits.length === 0 ? {} : { initContainers: inits }),
    containers: [
      {
        ...container,
        // A name of its own beside those of the inits.
        name: inits.some(({ name }) => name === "main") ? "main-container" : "main",
        ...(options.entrypoint === undefined || container.command !== undefined ? {} : { command: options.entrypoint }),
        ...(options.workingDir === undefined ? {} : { workingDir: options.workingDir }),
        ...(allMounts.length === 0 ? {} : { volumeMounts: allMounts }),
        ...(restartPolicy === "Always" ? probesOf(from, spec) : {}),
        ...(Object.keys(security).length === 0 ? {} : { securityContext: security }),
      },
    ],
    restartPolicy,
    // What berth gives where nothing is written; Kubernetes gives 30.
    terminationGracePeriodSeconds: grace ?? 10,
    ...options.pod,
    ...securityOf(spec, options.pod.securityContext),
    ...hostsOf(spec),
    ...networkOf(from, spec, path),
    ...(allVolumes.length === 0 ? {} : { volumes: allVolumes }),
  };
  return { template: { metadata: { labels: labelsOf(from.scope, from.name) }, spec: podSpec }, claims };
}

/** Kubernetes gives volumes a group, and the programs of the pod that group: a user alone stands for both. */
function securityOf(spec: Record<string, unknown>, own: PodSpec["securityContext"]): Pick<PodSpec, "securityContext"> {
  const owner = parseVolumeOwner(textOf(spec.volume_owner) ?? "");
  if (!owner.ok) return {};
  const { uid, gid = uid } = owner.value;
  return { securityContext: { ...own, fsGroup: gid, fsGroupChangePolicy: "OnRootMismatch" } };
}

function hostsOf(spec: Record<string, unknown>): Pick<PodSpec, "hostAliases"> {
  const pairs = wordsOf(spec.extra_hosts).map((text) => {
    const colon = text.indexOf(":");
    return { ip: text.slice(colon + 1), hostnames: [text.slice(0, colon)] };
  });
  return pairs.length === 0 ? {} : { hostAliases: pairs };
}

function networkOf({ lose }: Exportable, spec: Record<string, unknown>, path: string): Pick<PodSpec, "hostNetwork"> {
  const mode = textOf(spec.network_mode);
  if (mode === "none") lose(`${path}.network_mode`, "none has no counterpart");
  return mode === "host" ? { hostNetwork: true } : {};
}

/** Tells of the fields that no part of the export reads. */
export function losePodFields(
  from: Exportable,
  spec: Record<string, unknown>,
  { path, read }: { path: string; read: readonly string[] },
): void {
  loseOthers(from, spec, { path, read: [...podFields, ...read], advice: podAdvice });
}
