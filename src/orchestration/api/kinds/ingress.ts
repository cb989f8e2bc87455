import { type Static, Type } from "@sinclair/typebox";
import { routingFields } from "./routing.ts";
import { Shape } from "../../../base/wire/shape.ts";

export const IngressSpec = Shape(
  {
    ...routingFields,
    service: Type.Optional(Type.String({ description: "resource in the same scope; default: the own name" })),
    port: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 65535,
        description: "container-side port; default: the first of the service, else 80",
      }),
    ),
  },
  "host names and paths that lead to a resource; host or hosts is required",
);
export type IngressSpec = Static<typeof IngressSpec>;
