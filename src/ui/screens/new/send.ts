import { beginRehearsal } from "../../../backups/api/rehearsals.ts";
import { ApiError } from "../../../base/wire/client.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { applyManifests } from "../../../observability/api/deploys.ts";
import { api, faultText } from "../../data/api.ts";

export type Plan = DataOf<typeof applyManifests>;

/** Plans manifests, or stores them. What is wrong with them comes back as texts, each with its path. */
export async function send(
  manifests: readonly unknown[],
  { dry, message }: { dry: boolean; message: string },
): Promise<{ plan: Plan } | { faults: string[] }> {
  try {
    const query = { dry_run: dry, message: message === "" ? undefined : message };
    return { plan: await api.call(applyManifests, { query, body: manifests }) };
  } catch (error) {
    return faultsOf(error);
  }
}

/** Tries manifests on copies. */
export async function rehearse(manifests: readonly unknown[]): Promise<{ id: string } | { faults: string[] }> {
  try {
    return await api.call(beginRehearsal, { body: manifests });
  } catch (error) {
    return faultsOf(error);
  }
}

function faultsOf(error: unknown): { faults: string[] } {
  const problems = error instanceof ApiError ? (error.data.problems ?? []) : [];
  if (problems.length === 0) return { faults: [faultText(error)] };
  return { faults: problems.map(({ path, message: why }) => `${path}: ${why}`) };
}
