import { type Static, Type } from "@sinclair/typebox";
import { autoscaleDefaults } from "./defaults.ts";
import { Duration, Shape } from "../../../base/wire/shape.ts";

export const Autoscale = Shape(
  {
    min: Type.Integer({ minimum: 1, description: "fewest replicas" }),
    max: Type.Integer({ minimum: 1, description: "most replicas" }),
    cpu_target: Type.Integer({ minimum: 1, maximum: 100, description: "wanted mean CPU use, in percent" }),
    cooldown_up: Type.Optional(Duration("pause after a step up", autoscaleDefaults.cooldownUp)),
    cooldown_down: Type.Optional(Duration("pause after a step down", autoscaleDefaults.cooldownDown)),
  },
  "replica count from CPU use; excludes replicas",
);
export type Autoscale = Static<typeof Autoscale>;
