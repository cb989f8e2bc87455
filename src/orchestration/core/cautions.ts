import type { CoreKind, Spec } from "../api/manifest.ts";
import { changedPaths } from "./diff.ts";
import { specHash } from "./spec-hash.ts";
import { parseDockerOptions } from "./docker-options.ts";
import type { DecodedContainer, DecodedInit } from "./spec/container.ts";
import { containerOf } from "./spec/decode.ts";
import type { EngineOptions } from "./workload.ts";

interface Caution {
  when: (options: EngineOptions) => boolean;
  text: string;
}

const handovers: readonly Caution[] = [
  { when: ({ privileged }) => privileged === true, text: "--privileged gives the container root on this machine" },
  { when: ({ pidMode }) => pidMode === "host", text: "--pid=host shows the container all processes of the machine" },
  { when: ({ ipcMode }) => ipcMode === "host", text: "--ipc=host shares the memory segments of the machine" },
  {
    when: ({ securityOpt = [] }) => securityOpt.some((option) => /[=:](?:unconfined|disable)$/.test(option)),
    text: "--security-opt turns a guard of the machine off",
  },
];

/** What a manifest of a container gives away of the machine, for the plan; empty where it gives nothing. */
export function hostCautions(kind: CoreKind, spec: Spec): string[] {
  const container = containerOf(kind, spec)?.container;
  if (container === undefined) return [];
  return [
    ...optionCautions(container, "docker_options"),
    ...container.volumes.flatMap(({ text }, index) => volumeCaution(text, `volumes[${index}]`)),
    ...container.capAdd.flatMap((name, index) => capabilityCaution(name, `cap_add[${index}]`)),
    ...container.inits.flatMap((init, index) => optionCautions(init, `inits[${index}].docker_options`)),
  ];
}

const machineFolders = /^\/+(?:(?:etc|root|boot|dev|proc|sys|run|var\/run|var\/lib\/docker)\/*)?$/;
const engineSocket = /\/(?:docker|containerd)\.sock$/;

function volumeCaution(volume: string, path: string): string[] {
  const [source = ""] = volume.split(":");
  if (engineSocket.test(source)) return [`${path}: ${source} gives the container root on this machine`];
  return machineFolders.test(source) ? [`${path}: ${source} shows the container a part of the machine itself`] : [];
}

const capabilities = new Set(["ALL", "SYS_ADMIN", "SYS_MODULE", "SYS_RAWIO", "SYS_PTRACE", "DAC_READ_SEARCH"]);

function capabilityCaution(name: string, path: string): string[] {
  if (!capabilities.has(name.toUpperCase().replace(/^CAP_/, ""))) return [];
  return [`${path}: ${name} lets the container out of its walls`];
}

function optionCautions({ dockerOptions = [] }: DecodedContainer | DecodedInit, path: string): string[] {
  const { options } = parseDockerOptions(dockerOptions, path);
  return handovers.filter(({ when }) => when(options)).map(({ text }) => `${path}: ${text}`);
}

/** Release commands are not part of what containers are made from: changing them alone starts no release. */
export function releaseCaution(kind: CoreKind, before: Spec | undefined, after: Spec): string[] {
  if (kind !== "deployment" || before === undefined || specHash(kind, before) !== specHash(kind, after)) return [];
  if (!changedPaths(before, after).some((path) => /^(?:spec\.)?release(?:$|[.[])/.test(path))) return [];
  return ["release: changed alone it starts no release; it counts from the next one on, or with: berth release run"];
}
