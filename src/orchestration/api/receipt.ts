import { type Static, Type } from "@sinclair/typebox";

/** What visitors saw in one span of time, as the ingress counted it. */
export const Traffic = Type.Object({
  seconds: Type.Number({ description: "length of the span" }),
  requests: Type.Integer(),
  failed: Type.Integer({ description: "answers of 500 and above, and answers that broke off" }),
  p50_ms: Type.Optional(Type.Integer({ description: "median time to the end of the answer; absent without requests" })),
  p99_ms: Type.Optional(Type.Integer()),
});
export type Traffic = Static<typeof Traffic>;

/** The deploy receipt of a release: the traffic before, during and after the replicas were replaced. */
export const Receipt = Type.Object({
  before: Traffic,
  during: Traffic,
  after: Type.Optional(Traffic),
});
export type Receipt = Static<typeof Receipt>;
