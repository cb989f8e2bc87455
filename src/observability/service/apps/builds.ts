import type { BodyOf } from "../../../base/wire/endpoint.ts";
import { ApiError } from "../../../base/wire/client.ts";
import { Failure } from "../../../base/wire/failure.ts";
import {
  type Build,
  buildImage,
  buildLog,
  cancelBuild,
  followBuild,
  listBuilds,
  retryBuild,
} from "../../../orchestration/api/builds.ts";
import type { ShownBuild } from "../../api/builds.ts";
import { mayReach } from "../../../access/apps.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import type { Platform } from "../platform.ts";

interface BuildTarget {
  scope: string;
  name: string;
  id: string;
}

interface Who {
  grant: Grant;
  actor: string;
}

/** Images from source, of the apps that a token may see. Each fails `not_found` for the others. */
export interface Builds {
  list(grant: Grant, filter: { scope?: string; name?: string }): Promise<ShownBuild[]>;
  log(grant: Grant, target: BuildTarget): Promise<string>;
  /** Bytes of text, until the build ends or `signal` aborts. */
  follow(grant: Grant, target: BuildTarget, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  start(who: Who, body: unknown): Promise<{ build: ShownBuild; reused: boolean }>;
  cancel(who: Who, target: BuildTarget): Promise<ShownBuild>;
  retry(who: Who, target: BuildTarget): Promise<ShownBuild>;
}

interface BuildParts {
  platform: Platform;
  /** The name of the token that an actor is. */
  nameOf: (actor: string) => string | undefined;
}

const reader = "observability";

export function createBuilds({ platform, nameOf }: BuildParts): Builds {
  const client = platform.as(reader);
  const shown = (build: Build): ShownBuild => {
    const name = nameOf(build.actor);
    return name === undefined ? build : { ...build, actor_name: name };
  };
  const within = async <T>(grant: Grant, target: BuildTarget, run: () => Promise<T>): Promise<T> => {
    const missing = new Failure("not_found", `no build "${target.id}" of ${target.scope}/${target.name}`);
    if (!mayReach(grant, target)) throw missing;
    try {
      return await run();
    } catch (error) {
      throw error instanceof ApiError && error.status === 404 ? missing : error;
    }
  };
  return {
    async list(grant, filter) {
      const { builds } = await client.call(listBuilds, { query: filter });
      return builds.filter((build) => mayReach(grant, build)).map(shown);
    },
    log: (grant, target) =>
      within(grant, target, async () => (await client.call(buildLog, { params: { ...target } })).log),
    follow: (grant, target, signal) =>
      within(grant, target, async () => {
        // Problems with the target are reported before the answer begins.
        await client.call(buildLog, { params: { ...target } });
        const { body } = await client.raw(followBuild, { params: { ...target }, signal });
        return body ?? new Blob([]).stream();
      }),
    async start({ grant, actor }, body) {
      const { scope, name } = namesOf(body);
      if (scope !== undefined && name !== undefined && !mayReach(grant, { scope, name })) {
        throw new Failure("forbidden", `this token may not build ${scope}/${name}`);
      }
      // The platform says what is wrong with it.
      const asked = { query: { wait: false }, body: body as BodyOf<typeof buildImage> };
      const { build, reused } = await platform.as(actor, grant).call(buildImage, asked);
      return { build: shown(build), reused };
    },
    cancel: ({ grant, actor }, target) =>
      within(grant, target, async () =>
        shown((await platform.as(actor, grant).call(cancelBuild, { params: { ...target } })).build),
      ),
    retry: ({ grant, actor }, target) =>
      within(grant, target, async () =>
        shown((await platform.as(actor, grant).call(retryBuild, { params: { ...target } })).build),
      ),
  };
}

/** Names in a request that is checked later: the platform reports a request without them. */
function namesOf(body: unknown): { scope?: string; name?: string } {
  const { scope, name } = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  return typeof scope === "string" && typeof name === "string" ? { scope, name } : {};
}
