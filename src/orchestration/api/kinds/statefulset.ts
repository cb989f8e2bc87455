import { type Static, Type } from "@sinclair/typebox";
import { podFields } from "./pod.ts";
import { ListOf, Shape } from "../../../base/wire/shape.ts";
import { VolumeClaim } from "./volume-claim.ts";

export const StatefulsetSpec = Shape(
  {
    ...podFields,
    volume_claims: Type.Optional(ListOf(VolumeClaim, "one volume per claim and ordinal")),
  },
  "replicas with an ordinal, a name and volumes of their own",
);
export type StatefulsetSpec = Static<typeof StatefulsetSpec>;
