import { Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { ListQuery } from "./paging.ts";
import { SessionResource } from "./resources.ts";
import { sessionsMax } from "./settings.ts";

export const listSessions = endpoint({
  method: "GET",
  path: "/api/v1/sessions",
  summary: "Sessions of the instance, most recent sign-in first, revoked ones included",
  query: ListQuery,
  data: Type.Array(SessionResource),
  flat: true,
});

export const getSession = endpoint({
  method: "GET",
  path: "/api/v1/sessions/:id",
  summary: "One session, by its session id",
  data: SessionResource,
  flat: true,
});

export const revokeSession = endpoint({
  method: "DELETE",
  path: "/api/v1/sessions/:id",
  summary: "End a session; 422 when it was ended before",
  data: Type.Object({ revoked: Type.Boolean(), session_id: Type.String() }),
  flat: true,
});

export const sessionConfig = endpoint({
  method: "GET",
  path: "/api/v1/session_config",
  summary: "How long sessions of the instance last; with either key",
  data: Type.Object({
    session_lifetime_hours: Type.Integer(),
    session_idle_timeout_minutes: Type.Union([Type.Integer(), Type.Null()]),
    single_session_per_device: Type.Boolean(),
    max_concurrent_sessions: Type.Integer({ description: `${sessionsMax} also where there is no limit` }),
  }),
  flat: true,
});
