import { type Static, Type } from "@sinclair/typebox";
import { releaseDefaults } from "./defaults.ts";
import { Duration, Shape, Words } from "../../../base/wire/shape.ts";

export const Release = Shape(
  {
    command: Type.Optional(Words("main step, for example a migration")),
    pre_command: Type.Optional(Words("runs before the main step")),
    post_command: Type.Optional(Words("runs after the rollout; its failure does not fail the release")),
    timeout: Type.Optional(Duration("limit of each command", releaseDefaults.timeout)),
  },
  "commands run once per release, each in a container of its own",
);
export type Release = Static<typeof Release>;
