import { type Static, Type } from "@sinclair/typebox";
import { deploymentFields } from "./deployment.ts";
import { routingFields } from "./routing.ts";
import { Duration, MapOf, Shape, Words } from "../../../base/wire/shape.ts";

const Previews = Shape(
  {
    host: Type.Optional(
      Type.String({
        description: "host name with {branch} in it, like {branch}.preview.example.com; without it there is no ingress",
      }),
    ),
    ttl: Type.Optional(Duration("how long a preview lives after its last push, at most 24d", "3d")),
    replicas: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1000, default: 1, description: "copies of a preview" }),
    ),
    env: Type.Optional(MapOf(Type.String(), "variables of a preview, in place of those of the app")),
    env_from: Type.Optional(Words("apps whose config a preview reads: scope/name, or name in its own scope")),
  },
  "lets other branches that are pushed run in scopes of their own",
);

/** Only of an app: it says nothing of what runs, and so no container changes with it. */
export const previewField = { preview: Type.Optional(Previews) };

export const AppSpec = Shape(
  { ...deploymentFields, ...routingFields, ...previewField },
  "a deployment and, with a host, the ingress in front of it; both share scope and name",
);
export type AppSpec = Static<typeof AppSpec>;
