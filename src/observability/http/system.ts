import { planeSystem } from "../api/system.ts";
import { mountPlane } from "./mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

export function mountSystem(plane: ObservabilityPlane, version: string): void {
  const { system } = plane.observability;
  mountPlane(plane, planeSystem, () => system.facts(version));
}
