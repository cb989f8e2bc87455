import { searchInstances } from "../api/instances.ts";
import { jsonAnswer } from "./answers.ts";
import { mountPreflight } from "./cors.ts";
import { mountApi } from "./mount.ts";
import type { IdentityPlane } from "./plane.ts";

export function mountInstances(plane: IdentityPlane): void {
  const { lookup } = plane.identity;
  mountPreflight(plane, [searchInstances]);
  mountApi(plane, searchInstances, {
    key: "either",
    cors: true,
    answer: ({ caller, query }) => jsonAnswer(200, lookup.byQuery(caller.entry, query.get("query") ?? "")),
  });
}
