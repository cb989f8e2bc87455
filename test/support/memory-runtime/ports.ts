import type { PortBinding } from "../../../src/orchestration/core/workload.ts";
import type { InspectedPod } from "../../../src/orchestration/engine/pod.ts";

type Published = InspectedPod["ports"];

/** Host ports in use, as the kernel sees them: by protocol, address and number. */
export interface PortTable {
  /** The ports of a container that starts, free ones filled in; or the number of the first one that is taken. */
  claim(id: string, wanted: readonly PortBinding[]): Published | { taken: number };
  release(id: string): void;
  /** Ids of those that hold a fixed port. */
  holders(binding: PortBinding): string[];
}

interface Claim {
  id: string;
  protocol: string;
  hostIp: string;
}

const everywhere = new Set(["", "0.0.0.0", "::", "[::]"]);
const firstFreePort = 49_153;
const lastPort = 65_535;

export function createPortTable(): PortTable {
  const byPort = new Map<number, Claim[]>();
  const byContainer = new Map<string, number[]>();

  const clashing = (port: number, { hostIp, protocol }: PortBinding) =>
    (byPort.get(port) ?? []).filter(
      (claim) =>
        claim.protocol === protocol &&
        (claim.hostIp === hostIp || everywhere.has(claim.hostIp) || everywhere.has(hostIp)),
    );
  const isTaken = (port: number, binding: PortBinding) => clashing(port, binding).length > 0;

  const take = (id: string, port: number, { hostIp, protocol }: PortBinding) => {
    byPort.set(port, [...(byPort.get(port) ?? []), { id, protocol, hostIp }]);
    byContainer.set(id, [...(byContainer.get(id) ?? []), port]);
  };

  const release = (id: string) => {
    for (const port of byContainer.get(id) ?? []) {
      const left = (byPort.get(port) ?? []).filter((claim) => claim.id !== id);
      if (left.length === 0) byPort.delete(port);
      else byPort.set(port, left);
    }
    byContainer.delete(id);
  };

  // Goes round, so that finding one among thousands stays cheap.
  let next = firstFreePort;
  const freePort = (binding: PortBinding) => {
    for (let tries = firstFreePort; tries <= lastPort; tries++) {
      const port = next;
      next = next === lastPort ? firstFreePort : next + 1;
      if (!isTaken(port, binding)) return port;
    }
    return undefined;
  };

  return {
    release,
    holders: (binding) => clashing(binding.hostPort ?? 0, binding).map(({ id }) => id),
    claim: (id, wanted) => {
      const published: Published = [];
      for (const binding of wanted) {
        const port = binding.hostPort ?? freePort(binding);
        if (port === undefined || isTaken(port, binding)) {
          release(id);
          return { taken: port ?? 0 };
        }
        take(id, port, binding);
        const container = `${binding.containerPort}/${binding.protocol}`;
        published.push({ container, hostIp: binding.hostIp, hostPort: String(port) });
      }
      return published;
    },
  };
}
