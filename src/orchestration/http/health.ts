import { health, system } from "../api/health.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountHealth(plane: Plane, controller: Controller, version: string): void {
  mount(plane, health, () => ({ status: "ok" as const, version }));
  mount(plane, system, () => controller.system());
}
