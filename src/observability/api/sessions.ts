import { Type } from "@sinclair/typebox";
import { Shape, Words } from "../../base/wire/shape.ts";
import { Text } from "../../base/wire/query.ts";
import { signedInPath, startPath } from "./people.ts";
import { endpoint, scopes } from "../../base/wire/endpoint.ts";

/**
 * Every request of the web UI carries it, whatever its value: a page of another site cannot send it. Requests that
 * change something with the cookie of a session and without it are refused.
 */
export const uiHeader = "X-Berth-UI";

/** The page that a one-time link leads to; the code stands behind it as `#link=CODE`, where no server and no log sees it. */
export const signInPath = "/sign-in";

export const createUiLink = endpoint({
  method: "POST",
  path: "/ui/links",
  summary: "Makes a code that signs a browser in to the web UI once, within a minute; 201",
  body: Shape({
    scopes: Type.Optional(Words(`what the session may do, all where left out: ${scopes.join(", ")}`)),
    apps: Type.Optional(Words("globs of the apps that it may see; every app where left out")),
  }),
  data: Type.Object({
    code: Type.String({ description: "shown in this answer alone" }),
    path: Type.String({ description: "of the web UI, with the code: put the address of the plane in front of it" }),
    expires_at: Type.String(),
  }),
  alsoAnswers: { 201: "made" },
});

const Session = Type.Object({
  id: Type.String({ description: "of the token behind the session" }),
  name: Type.Optional(Type.String()),
  scopes: Type.Array(Type.String()),
  apps: Type.Array(Type.String(), { description: "globs of the apps that it may see; empty: every app" }),
  person: Type.Optional(
    Type.String({ description: "address of the person, after a sign-in through the identity service" }),
  ),
  expires_at: Type.String({ description: "when the session ends; signing in again makes another one" }),
});

export const signIn = endpoint({
  method: "POST",
  path: "/ui/api/session",
  summary: "Signs a browser in with a token or the code of a one-time link, and sets the cookie of the session",
  body: Shape({
    token: Type.Optional(Type.String({ description: "a personal access token" })),
    link: Type.Optional(Type.String({ description: "the code of a one-time link" })),
  }),
  data: Session,
});

export const getSession = endpoint({
  method: "GET",
  path: "/ui/api/session",
  summary: "What the session of the cookie may do; 401 without one",
  data: Session,
});

export const signOut = endpoint({
  method: "DELETE",
  path: "/ui/api/session",
  summary: "Ends the session, cuts its streams and clears the cookie; a token that was made for it ends as well",
  data: Type.Object({ signed_out: Type.Literal(true) }),
});

export const signInWays = endpoint({
  method: "GET",
  path: "/ui/api/sign-in-ways",
  summary: "Ways to sign in beside a token and a link",
  data: Type.Object({
    people: Type.Optional(Type.Object({ title: Type.String({ description: "name of the sign-in service" }) })),
  }),
});

export const startSignIn = endpoint({
  method: "GET",
  path: startPath,
  summary: "Sends a browser to the identity service to sign in",
  query: Type.Object({ to: Text("path of the page to show afterwards") }),
  stream: "text/html",
});

export const finishSignIn = endpoint({
  method: "GET",
  path: signedInPath,
  summary: "Where the identity service sends the browser back to; signs it in, or answers a page that says why not",
  query: Type.Object({
    state: Text("of the sign-in that this browser has begun: good once, for ten minutes"),
    code: Text("from the identity service: good once, for a minute"),
  }),
  stream: "text/html",
});

/** Endpoints of the web UI, on the observability plane and outside of its API. */
export const sessionEndpoints = [signIn, getSession, signOut, signInWays, startSignIn, finishSignIn];
