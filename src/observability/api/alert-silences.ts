import { type Static, Type } from "@sinclair/typebox";
import { alertsPath } from "./alerts.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

const pattern = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 130, description }));

/** Which alerts: all parts that are there must fit. */
export const Matcher = Type.Object(
  {
    rule: pattern("name of the rule; * for any part"),
    app: pattern("SCOPE/NAME; * for any part"),
    severity: pattern("critical, warning or info"),
  },
  { additionalProperties: false },
);
export type Matcher = Static<typeof Matcher>;

export const Silence = Type.Object({
  id: Type.String(),
  matcher: Matcher,
  by: Type.String(),
  reason: Type.Optional(Type.String()),
  created_at: Type.String(),
  until: Type.String(),
});
export type Silence = Static<typeof Silence>;

const reasonMax = 500;

export const SilenceBody = Type.Object(
  {
    matcher: Matcher,
    for: Type.String({ maxLength: 20, description: "how long, for example 2h; at most 24d" }),
    reason: Type.Optional(Type.String({ maxLength: reasonMax })),
  },
  { additionalProperties: false },
);
export type SilenceBody = Static<typeof SilenceBody>;

export const listSilences = planeEndpoint({
  method: "GET",
  path: `${alertsPath}/silences`,
  scope: "read",
  summary: "Silences that hold",
  data: Type.Object({ silences: Type.Array(Silence) }),
});

export const addSilence = planeEndpoint({
  method: "POST",
  path: `${alertsPath}/silences`,
  scope: "actions",
  summary: "Holds back messages about matching alerts for a time; what still fires afterwards is sent then",
  body: SilenceBody,
  data: Silence,
});

export const deleteSilence = planeEndpoint({
  method: "DELETE",
  path: `${alertsPath}/silences/:id`,
  scope: "actions",
  summary: "Ends a silence",
  data: Silence,
});
