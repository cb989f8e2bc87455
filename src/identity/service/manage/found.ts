import type { Instance } from "../../store/records.ts";
import type { Resource } from "../resources.ts";
import type { Searches } from "../search.ts";
import type { ManageContext, Query } from "./context.ts";

interface FoundPage {
  resources: Resource[];
  next: string | undefined;
}

/** What a search finds, as the API shows it. Fails as `Searches` does. */
export async function findResources(
  { directory }: Pick<ManageContext, "directory">,
  search: Searches[keyof Searches],
  { instance, query }: { instance: Instance; query: Query },
): Promise<FoundPage> {
  const entry = directory.byId(instance.id);
  if (entry === undefined) return { resources: [], next: undefined };
  const { json, next } = await search(entry, { ...query, email: undefined });
  return { resources: JSON.parse(json) as Resource[], next };
}
