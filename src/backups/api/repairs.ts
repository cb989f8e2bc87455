import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { OneOf, Shape } from "../../base/wire/shape.ts";

const repairSteps = ["look", "repair", "remove", "carry_over"] as const;

const DamagedCopy = Type.Object({
  id: Type.String(),
  at: Type.String(),
  what: Type.String({ description: "as in a run" }),
  missing: Type.Array(Type.String(), {
    description: "what is lost in it, at most 100 paths; with a slash at its end, a part of what is below that folder",
  }),
  missing_count: Type.Integer(),
});
export type DamagedCopy = Static<typeof DamagedCopy>;

const Repair = Type.Object({
  id: Type.String(),
  target: Type.String(),
  step: OneOf(repairSteps, "what was asked for"),
  actor: Type.String(),
  started_at: Type.String(),
  ended_at: Type.Optional(Type.String({ description: "absent: it is under way" })),
  doing: Type.Optional(Type.String({ description: "what it does now" })),
  error: Type.Optional(Type.String({ description: "why it failed" })),
  faults: Type.Array(Type.String(), { description: "what is wrong with the repository, at its end" }),
  copies: Type.Array(
    Type.Object({
      what: Type.String(),
      at: Type.Optional(Type.String({ description: "of carry_over: of which time" })),
      error: Type.Optional(Type.String()),
    }),
    { description: "new full copies that a repair has made of what is here, or copies that were carried over now" },
  ),
  damaged: Type.Array(DamagedCopy, { description: "copies that cannot be restored whole, oldest first" }),
  removed: Type.Optional(Type.Integer({ description: "damaged copies that were removed" })),
});
export type Repair = Static<typeof Repair>;

export const RepairBody = Shape({
  step: OneOf(
    repairSteps,
    "look: find what is lost; repair: rebuild the index, and make new full copies; remove: take damaged copies off the target; carry_over: bring the copies that an earlier recovery key opens to the repository of today",
  ),
  key: Type.Optional(
    Type.String({ maxLength: 200, description: "of carry_over: the recovery key that opens the old copies" }),
  ),
});

export type RepairBody = Static<typeof RepairBody>;

export const beginRepair = endpoint({
  method: "POST",
  path: "/backups/targets/:name/repair",
  summary:
    "Begin to look for data that a target has lost, to repair the repository there, to remove damaged copies, or to carry over those of an earlier recovery key",
  body: RepairBody,
  data: Type.Object({ id: Type.String() }),
});

export const listRepairs = endpoint({
  method: "GET",
  path: "/backups/repairs",
  summary: "Repairs since the server started, newest first",
  data: Type.Object({ repairs: Type.Array(Repair) }),
});

export const repairEndpoints = [beginRepair, listRepairs];
