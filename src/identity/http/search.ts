import { ignoredHeader, searchSessions, searchUsers } from "../api/search.ts";
import type { Found, SearchQuery } from "../service/search.ts";
import { listAnswer, readPage } from "./lists.ts";
import { type ApiCall, mountApi } from "./mount.ts";
import type { IdentityPlane } from "./plane.ts";
import type { Query } from "./query.ts";

/** Mount it before what has an id in the same place. */
export function mountSearch(plane: IdentityPlane): void {
  const { search } = plane.identity;
  mountApi(plane, searchUsers, { key: "secret", answer: (call) => answer(call, search.users) });
  mountApi(plane, searchSessions, { key: "secret", answer: (call) => answer(call, search.sessions) });
}

type Run = (entry: ApiCall["caller"]["entry"], query: SearchQuery) => Found | Promise<Found>;

function answer({ caller, query, request }: ApiCall, run: Run): Response | Promise<Response> {
  const found = run(caller.entry, readSearchQuery(query));
  return found instanceof Promise ? found.then((one) => foundAnswer(request, one)) : foundAnswer(request, found);
}

function readSearchQuery(query: Query): SearchQuery {
  const strict = query.get("strict");
  return {
    ...readPage(query),
    query: query.get("query") ?? undefined,
    email: query.get("email") ?? undefined,
    strict: strict === "1" || strict === "true",
  };
}

function foundAnswer(request: Request, found: Found): Response {
  const response = listAnswer(request, found);
  if (found.ignored.length > 0) response.headers.set(ignoredHeader, found.ignored.map(encodeURIComponent).join(" "));
  return response;
}
