import { ApiError, type Client } from "../../base/wire/client.ts";
import type { Manifest } from "../../orchestration/api/manifest.ts";
import { listManifests } from "../../orchestration/api/apply.ts";
import { isPodKind } from "../facts/look.ts";
import { parseReference, splitReplica } from "../basics/reference.ts";

/** What was asked of the containers, or why it cannot be known now. */
type Asked<T> = { found: T } | { away: string };

/** Asks about containers. The server stays up without its container engine, and says why it cannot answer. */
export async function unlessAway<T>(call: () => Promise<T>): Promise<Asked<T>> {
  try {
    return { found: await call() };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 503) throw error;
    return { away: error.message };
  }
}

/** The stored resources whose pods a reference means, in the forms of `findPods`. */
export async function storedWorkloads(api: Client, text: string | undefined): Promise<Manifest[]> {
  const { word, kind, scope, name } = text === undefined ? {} : parseReference(text);
  const inScope = scope ?? (word?.includes(".") ? undefined : word);
  const manifests = await api.call(listManifests, { query: { kind, scope: inScope } });
  const names = name === undefined ? undefined : [name, splitReplica(name)?.name];
  return manifests.filter((each) => isPodKind(each.kind) && (names === undefined || names.includes(each.name)));
}
