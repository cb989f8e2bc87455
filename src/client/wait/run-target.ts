import type { Client } from "../../base/wire/client.ts";
import { formatKey, type ManifestKey } from "../../orchestration/api/manifest.ts";
import { listManifests } from "../../orchestration/api/apply.ts";
import { CommandFailure, usageFailure } from "../basics/failures.ts";
import { nameMeant } from "../shell/named.ts";
import { isPodKind } from "../facts/look.ts";
import { resourceQuery } from "../basics/reference.ts";

const jobKinds = ["job", "cronjob"];

/** The job or cron job that a reference names: `name`, `scope/name` or `kind/scope/name`. */
export async function findJob(api: Client, text: string, kindFlag?: string): Promise<ManifestKey> {
  const { kind, scope, name } = resourceQuery(text, kindFlag);
  if (kind !== undefined && !jobKinds.includes(kind)) {
    throw usageFailure(`a ${kind} has no runs; a command in a container like its own: berth run ${text} -- COMMAND`);
  }
  const kinds = kind === undefined ? jobKinds : [kind];
  const lists = await Promise.all(kinds.map((one) => api.call(listManifests, { query: { kind: one, scope, name } })));
  const [found, ...others] = lists.flat();
  if (found === undefined) {
    const apps = kind === undefined ? await api.call(listManifests, { query: { scope, name } }) : [];
    const app = apps.find((one) => isPodKind(one.kind));
    const what = `no ${kinds.join(" or ")} "${text}"`;
    if (app !== undefined) {
      throw new CommandFailure(`${what}; to run a command in a container: berth run ${text} -- COMMAND`);
    }
    const meant = text.includes("/") ? await nameMeant(text, { api }, kinds) : "";
    throw new CommandFailure(`${what}${meant || "; see: berth get jobs"}`);
  }
  const keys = [found, ...others].map(({ kind: its, scope: where = "", name: called }) => {
    return { kind: its, scope: where, name: called };
  });
  if (keys.length > 1) throw usageFailure(`"${text}" may be ${keys.map(formatKey).join(" or ")}: say which`);
  return { kind: found.kind, scope: found.scope ?? "", name: found.name };
}
