import { type Static, Type } from "@sinclair/typebox";
import { Shape } from "../../../base/wire/shape.ts";

export const Resources = Shape(
  {
    limits: Type.Optional(
      Shape({
        cpu: Type.Optional(Type.String({ description: 'CPUs ("1.5") or millicores ("500m")' })),
        memory: Type.Optional(Type.String({ description: 'bytes, or a number with Ki Mi Gi Ti K M G T ("512Mi")' })),
      }),
    ),
  },
  "upper limits of one container",
);
export type Resources = Static<typeof Resources>;
