import { type Static, Type } from "@sinclair/typebox";
import { routingFields } from "./routing.ts";
import { Count, Shape } from "../../../base/wire/shape.ts";

/** Parts of the server itself that an ingress may lead to. Resource names have no "@", so that none is hidden. */
export const planeNames = ["@identity", "@observability"] as const;
export type PlaneName = (typeof planeNames)[number];

export const IngressSpec = Shape(
  {
    ...routingFields,
    service: Type.Optional(
      Type.String({
        description:
          "deployment or statefulset in the same scope, @identity for the identity service, or @observability for the web UI and its API; default: the own name",
      }),
    ),
    ordinal: Type.Optional(Count("one replica of a statefulset; default: all of them", { minimum: 0, maximum: 999 })),
    port: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 65535,
        description: "container-side port; default: the first of the service, else 80",
      }),
    ),
  },
  "host names and paths that lead to a resource; host or hosts is required, except with tcp",
);
export type IngressSpec = Static<typeof IngressSpec>;
