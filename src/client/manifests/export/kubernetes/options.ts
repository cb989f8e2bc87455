import type { PodSpec, SecurityContext, Volume, VolumeMount } from "kubernetes-types/core/v1";
import { parseDockerOptions } from "../../../../orchestration/core/docker-options.ts";
import { wordsOf } from "../../../../orchestration/core/spec/lenient.ts";
import type { EngineOptions } from "../../../../orchestration/core/workload.ts";
import type { Exportable } from "../exportable.ts";

interface FromOptions {
  security: SecurityContext;
  workingDir: string | undefined;
  pod: Pick<PodSpec, "hostname" | "hostPID" | "hostIPC" | "securityContext" | "dnsConfig">;
  volumes: Volume[];
  mounts: VolumeMount[];
  entrypoint: string[] | undefined;
}

/** Options that are read below; the rest is lost. */
const read: readonly (keyof EngineOptions)[] = [
  ...(["privileged", "readonlyRootfs", "user", "workingDir", "hostname", "entrypoint", "capDrop", "sysctls"] as const),
  ...(["dns", "dnsSearch", "groupAdd", "tmpfs", "shmSizeBytes", "pidMode", "ipcMode"] as const),
];

/** What `docker_options` and `cap_add` say, in the places where Kubernetes has it. */
export function fromOptions(from: Exportable, spec: Record<string, unknown>, path: string): FromOptions {
  const { options } = parseDockerOptions(wordsOf(spec.docker_options), `${path}.docker_options`);
  const at = `${path}.docker_options`;
  for (const name of Object.keys(options) as (keyof EngineOptions)[]) {
    if (!read.includes(name)) from.lose(at, `${name} has no counterpart`);
  }
  const add = wordsOf(spec.cap_add).map(capability);
  const drop = (options.capDrop ?? []).map(capability);
  const memory = memoryVolumes(options);
  return {
    security: {
      ...userOf(from, options, at),
      ...(options.privileged === true ? { privileged: true } : {}),
      ...(options.readonlyRootfs === true ? { readOnlyRootFilesystem: true } : {}),
      ...(add.length + drop.length === 0
        ? {}
        : { capabilities: { ...(add.length === 0 ? {} : { add }), ...(drop.length === 0 ? {} : { drop }) } }),
    },
    workingDir: options.workingDir,
    entrypoint: options.entrypoint,
    pod: podOf(from, options, at),
    ...memory,
  };
}

function capability(text: string): string {
  return text.toUpperCase().replace(/^CAP_/, "");
}

function userOf({ lose }: Exportable, { user }: EngineOptions, path: string): SecurityContext {
  if (user === undefined) return {};
  const [, id, group] = /^(\d+)(?::(\d+))?$/.exec(user) ?? [];
  if (id === undefined) lose(path, `--user=${user}: Kubernetes takes numbers only`);
  return {
    ...(id === undefined ? {} : { runAsUser: Number(id) }),
    ...(group === undefined ? {} : { runAsGroup: Number(group) }),
  };
}

function podOf({ lose }: Exportable, options: EngineOptions, path: string): FromOptions["pod"] {
  const { hostname, sysctls = {}, groupAdd = [], dns, dnsSearch, pidMode, ipcMode } = options;
  const groups = groupAdd.filter((group) => /^\d+$/.test(group)).map(Number);
  if (groups.length < groupAdd.length) lose(path, "--group-add: Kubernetes takes numbers only");
  const kernel = Object.entries(sysctls).map(([name, value]) => ({ name, value }));
  const security = {
    ...(groups.length === 0 ? {} : { supplementalGroups: groups }),
    ...(kernel.length === 0 ? {} : { sysctls: kernel }),
  };
  return {
    ...(hostname === undefined ? {} : { hostname }),
    ...(pidMode === "host" ? { hostPID: true } : {}),
    ...(ipcMode === "host" ? { hostIPC: true } : {}),
    ...(Object.keys(security).length === 0 ? {} : { securityContext: security }),
    ...(dns === undefined && dnsSearch === undefined
      ? {}
      : {
          dnsConfig: {
            ...(dns === undefined ? {} : { nameservers: dns }),
            ...(dnsSearch === undefined ? {} : { searches: dnsSearch }),
          },
        }),
  };
}

/** Folders in memory. */
function memoryVolumes({ tmpfs = {}, shmSizeBytes }: EngineOptions): Pick<FromOptions, "volumes" | "mounts"> {
  const folders = Object.keys(tmpfs).map((mountPath) => ({ mountPath, emptyDir: { medium: "Memory" } }));
  const shared =
    shmSizeBytes === undefined
      ? []
      : [{ mountPath: "/dev/shm", emptyDir: { medium: "Memory", sizeLimit: String(shmSizeBytes) } }];
  const all = [...folders, ...shared].map((one, index) => ({ ...one, name: `memory-${index}` }));
  return {
    volumes: all.map(({ name, emptyDir }) => ({ name, emptyDir })),
    mounts: all.map(({ name, mountPath }) => ({ name, mountPath })),
  };
}
