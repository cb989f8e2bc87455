import { abortRollout, getRollout, pauseRollout, promoteRollout, resumeRollout } from "../api/rollouts.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountRollouts(plane: Plane, controller: Controller): void {
  mount(plane, getRollout, ({ query }) => controller.rollout(query));
  mount(plane, pauseRollout, ({ query, actor }) => controller.tellRollout(query, { command: "pause", actor }));
  mount(plane, resumeRollout, ({ query, actor }) => controller.tellRollout(query, { command: "resume", actor }));
  mount(plane, promoteRollout, ({ query, actor }) => controller.tellRollout(query, { command: "promote", actor }));
  mount(plane, abortRollout, ({ query, actor, by }) => controller.tellRollout(query, { command: "abort", actor, by }));
}
