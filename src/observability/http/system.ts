import { planeSystem } from "../api/system.ts";
import { mount } from "../../base/http/mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

export function mountSystem(plane: ObservabilityPlane, version: string): void {
  const { system } = plane.observability;
  mount(plane, planeSystem, () => system.facts(version));
}
