import { formatMemory } from "../../../base/pure/quantity.ts";
import type { CoreKind, Spec } from "../../api/manifest.ts";
import { decodeSpec } from "../spec/decode.ts";
import type { DecodedPod } from "../spec/pod.ts";

/** Pods at one moment of a rollout. */
export interface Moment {
  /** Those that serve. */
  ready: number;
  /** Those that have a container. */
  all: number;
}

export interface Serving {
  /** Replicas that serve before. */
  before: number;
  /** The fewest that serve at any moment. */
  least: number;
}

/** How many go on serving; undefined where none is replaced or none served. `moments` begins with how it is now. */
export function servingOf(moments: readonly Moment[], replaced: number): Serving | undefined {
  const before = moments[0]?.ready ?? 0;
  if (replaced === 0 || before === 0) return undefined;
  // Fewer replicas were asked for where fewer remain at the end.
  const end = moments.at(-1)?.ready ?? 0;
  return { before: Math.min(before, end), least: Math.min(...moments.map(({ ready }) => ready)) };
}

/** A warning where the machine may not have the memory for the replicas that exist at the same time. */
export function memoryCautions(
  moments: readonly Moment[],
  { limitBytes, freeBytes }: { limitBytes: number | undefined; freeBytes: number | undefined },
): string[] {
  if (limitBytes === undefined || freeBytes === undefined) return [];
  const more = Math.max(0, ...moments.map(({ all }) => all)) - (moments[0]?.all ?? 0);
  const needed = more * limitBytes;
  if (more <= 0 || needed <= freeBytes) return [];
  const replicas = more === 1 ? "1 more replica" : `${more} more replicas`;
  return [
    `memory: ${replicas} at the same time may use ${wholeMib(needed)}, and ${wholeMib(freeBytes)} of this machine are free`,
  ];
}

function wholeMib(bytes: number): string {
  return formatMemory(Math.floor(bytes / mib) * mib);
}

const mib = 1024 * 1024;

/** Ports that other machines can reach once this is stored, and could not before. */
export function openedPorts(kind: CoreKind, before: Spec | undefined, after: Spec): string[] {
  if (kind !== "deployment" && kind !== "statefulset") return [];
  const known = new Set(before === undefined ? [] : publicPorts(decodeSpec(kind, before)));
  return publicPorts(decodeSpec(kind, after))
    .filter((port) => !known.has(port))
    .map((port) => `ports: ${port} can be reached from other machines`);
}

function publicPorts({ ports }: DecodedPod): string[] {
  return ports.flatMap(({ read: port }) => {
    if (!port.ok || isLoopback(port.value.hostIp)) return [];
    const { hostPort, protocol } = port.value;
    const number = hostPort === undefined ? "a free port" : String(hostPort);
    return [protocol === "tcp" ? number : `${number}/${protocol}`];
  });
}

function isLoopback(ip: string): boolean {
  return ip === "::1" || ip.startsWith("127.");
}
