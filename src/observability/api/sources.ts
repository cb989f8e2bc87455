import { fetchSource } from "../../orchestration/api/sources.ts";
import { aliasOf } from "./plane-endpoint.ts";

export const fetchAppSource = aliasOf(fetchSource, {
  path: "/sources/git",
  summary: "Fetch a commit of a git repository, to be built; answers with what to build and to apply",
});
