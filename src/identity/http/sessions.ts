import { getSession, listSessions, revokeSession, sessionConfig } from "../api/sessions.ts";
import { jsonAnswer } from "./answers.ts";
import { mountPreflight } from "./cors.ts";
import { listAnswer, readPage } from "./lists.ts";
import { mountApi } from "./mount.ts";
import type { IdentityPlane } from "./plane.ts";

export function mountSessions(plane: IdentityPlane): void {
  const { sessions } = plane.identity;
  mountApi(plane, listSessions, {
    key: "secret",
    answer: ({ caller, query, request }) => listAnswer(request, sessions.list(caller.entry, readPage(query))),
  });
  mountApi(plane, getSession, {
    key: "secret",
    answer: ({ caller, params }) => jsonAnswer(200, sessions.get(caller.entry, params.id ?? "")),
  });
  mountApi(plane, revokeSession, {
    key: "secret",
    answer: async ({ caller, params }) => jsonAnswer(200, await sessions.revoke(caller, params.id ?? "")),
  });
  mountPreflight(plane, [sessionConfig]);
  mountApi(plane, sessionConfig, {
    key: "either",
    cors: true,
    answer: ({ caller }) => jsonAnswer(200, sessions.config(caller.entry)),
  });
}
