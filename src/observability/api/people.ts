import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { OneOf, Shape, Words } from "../../base/wire/shape.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

export const roles = ["viewer", "operator", "admin"] as const;
export type Role = (typeof roles)[number];

export function isRole(text: string): text is Role {
  return roles.some((role) => role === text);
}

/** Where the sign-in service sends browsers back to, on the observability plane. */
export const signedInPath = "/ui/api/signed-in";
/** Where a browser begins a sign-in through the sign-in service. */
export const startPath = "/ui/api/sign-in";

const PersonSession = Type.Object({
  id: Type.String({ description: "public name of the session: it opens nothing" }),
  token: Type.String({ description: "id of the token behind it, as in berth pat list" }),
  started_at: Type.String(),
  expires_at: Type.String(),
  last_used_at: Type.Optional(Type.String({ description: "exact to a minute" })),
  ip: Type.String({ description: "where the sign-in came from" }),
  agent: Type.String(),
});

export const Person = Type.Object({
  email: Type.String(),
  role: OneOf(roles, "what the person may do"),
  apps: Type.Array(Type.String(), { description: "globs of the apps that the person may see; empty: every app" }),
  created_at: Type.String(),
  created_by: Type.String(),
  last_sign_in_at: Type.Optional(Type.String()),
  sessions: Type.Array(PersonSession, { description: "browsers that are signed in now, newest first" }),
});
export type Person = Static<typeof Person>;

/** The instance of the identity service that people sign in through. */
export const PeopleSignIn = Type.Object({
  instance: Type.String(),
  title: Type.String({ description: "name on its pages" }),
  sign_in_url: Type.String(),
  addresses: Type.Array(Type.String(), { description: "addresses of the web UI that browsers may be sent back to" }),
});
export type PeopleSignIn = Static<typeof PeopleSignIn>;

const List = Type.Object({
  sign_in: Type.Optional(PeopleSignIn),
  people: Type.Array(Person),
});
const Removed = Type.Object({ email: Type.String(), sessions_ended: Type.Integer() });
const Ended = Type.Object({ sessions_ended: Type.Integer() });

export const listPeople = planeEndpoint({
  method: "GET",
  path: "/people",
  scope: "admin",
  summary: "People who may sign in to the web UI through the identity service, with their roles and sessions",
  data: List,
});

export const enablePeople = endpoint({
  method: "PUT",
  path: "/people-sign-in",
  summary:
    "Lets people sign in through an instance of the identity service; without an instance it makes one. Another instance than before ends every session of people",
  body: Shape({
    instance: Type.Optional(Type.String({ description: "id of an instance with delivery=code" })),
    urls: Type.Optional(
      Words("addresses where browsers reach the web UI, such as https://berth.example.com; this machine is always one"),
    ),
  }),
  data: Type.Composite([PeopleSignIn, Type.Object({ made: Type.Boolean({ description: "the instance is new" }) })]),
});

export const disablePeople = endpoint({
  method: "DELETE",
  path: "/people-sign-in",
  summary: "Turns the sign-in through the identity service off, and ends every session of people; roles are kept",
  data: Ended,
});

export const setPerson = endpoint({
  method: "PUT",
  path: "/people/:person",
  summary: "Gives a role to a person, by address. A changed role ends the sessions of the person",
  body: Shape({
    role: OneOf(roles, "viewer: read; operator: read, actions, host:read; admin: every scope"),
    apps: Type.Optional(Words("globs of the apps that the person may see: scope or scope/name; default: every app")),
  }),
  data: Type.Composite([
    Person,
    Type.Object({
      has_account: Type.Boolean({ description: "the instance has a user with this address" }),
      sessions_ended: Type.Integer(),
    }),
  ]),
});

export const removePerson = planeEndpoint({
  method: "DELETE",
  path: "/people/:person",
  scope: "admin",
  summary: "Takes the role of a person, and ends the sessions at once. The user of the identity service stays",
  data: Removed,
});

export const endPersonSessions = planeEndpoint({
  method: "DELETE",
  path: "/people/:person/sessions",
  scope: "admin",
  summary: "Ends every session of a person; the role stays",
  data: Removed,
});

/** On the orchestration plane. A token that leaks cannot live on as a person: it can give no role. */
export const operatorPeopleEndpoints = [
  listPeople,
  enablePeople,
  disablePeople,
  setPerson,
  removePerson,
  endPersonSessions,
];

/** To end one session, end the token behind it: `DELETE /pats/:id`. */
export const planePeopleEndpoints = [listPeople, removePerson, endPersonSessions];
