import type { Static } from "@sinclair/typebox";
import { deploymentFields } from "./deployment.ts";
import { routingFields } from "./routing.ts";
import { Shape } from "../../../base/wire/shape.ts";

export const AppSpec = Shape(
  { ...deploymentFields, ...routingFields },
  "a deployment and, with a host, the ingress in front of it; both share scope and name",
);
export type AppSpec = Static<typeof AppSpec>;
