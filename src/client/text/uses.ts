import { ApiError, type Client } from "../../base/wire/client.ts";
import { listUses, type Use } from "../../orchestration/api/uses.ts";

/** Who stays and uses what goes (`deployment/shop/web`), a line each in the words of a delete's own warnings; nothing where the server cannot tell. */
export async function lostUses(api: Client, goes: readonly string[]): Promise<string[]> {
  const going = new Set(goes);
  const isGoing = ({ what, block }: Use) => going.has(what) || (block !== undefined && going.has(block));
  const lost = (await usesOf(api)).filter((use) => isGoing(use) && !going.has(use.by));
  return lost.map(({ what, by, where }) => `${what} is used by ${by}: ${where}`);
}

async function usesOf(api: Client): Promise<Use[]> {
  try {
    return (await api.call(listUses, { query: {} })).uses;
  } catch (error) {
    // A server from before this was asked.
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}
