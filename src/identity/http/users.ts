import { deleteUser, getUser, listUsers } from "../api/users.ts";
import { jsonAnswer } from "./answers.ts";
import { listAnswer, readPage } from "./lists.ts";
import { mountApi } from "./mount.ts";
import type { IdentityPlane } from "./plane.ts";

export function mountUsers(plane: IdentityPlane): void {
  const { users } = plane.identity;
  mountApi(plane, listUsers, {
    key: "secret",
    answer: ({ caller, query, request }) => listAnswer(request, users.list(caller.entry, readPage(query))),
  });
  mountApi(plane, getUser, {
    key: "secret",
    refusal: "Missing secret key",
    answer: ({ caller, params }) => jsonAnswer(200, users.get(caller.entry, params.id ?? "")),
  });
  mountApi(plane, deleteUser, {
    key: "secret",
    answer: async ({ caller, params }) => jsonAnswer(200, await users.remove(caller, params.id ?? "")),
  });
}
