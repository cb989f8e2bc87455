import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";

/** An apply that was asked to keep all of its changes or none. */
export const AtomicApply = Type.Object({
  id: Type.String(),
  state: Type.Union([Type.Literal("waiting"), Type.Literal("kept"), Type.Literal("put_back"), Type.Literal("stuck")], {
    description: "waiting until all are ready; stuck: one failed, and the others could not be put back",
  }),
  started_at: Type.String(),
  ended_at: Type.Optional(Type.String()),
  error: Type.Optional(Type.String({ description: "what failed, or why they could not be put back" })),
  failed: Type.Optional(Type.String({ description: "kind/scope/name of the resource that failed" })),
  resources: Type.Array(
    Type.Object({
      ref: Type.String({ description: "kind/scope/name" }),
      action: Type.Union([
        Type.Literal("created"),
        Type.Literal("updated"),
        Type.Literal("deleted"),
        Type.Literal("unchanged"),
      ]),
      fate: Type.Optional(
        Type.Union([Type.Literal("kept"), Type.Literal("put_back"), Type.Literal("deleted"), Type.Literal("left")], {
          description: "what became of it, for programs; left: somebody else changed it since",
        }),
      ),
      outcome: Type.Optional(Type.String({ description: "what became of it; once the apply has ended" })),
      until: Type.Optional(
        Type.String({
          description: "when the server gives it up unless it gets further; while the apply waits for it",
        }),
      ),
      revision: Type.Optional(Type.Integer({ description: "as it is stored now" })),
    }),
  ),
});
export type AtomicApply = Static<typeof AtomicApply>;

export const getAtomicApply = endpoint({
  method: "GET",
  path: "/applies/:id",
  scope: "read",
  summary: "What became of an apply with atomic=true",
  data: AtomicApply,
});
