import type Dockerode from "dockerode";
import { Failure } from "../../../base/wire/failure.ts";
import { canonicalReference, isImageId, parseImageReference } from "../../core/image-reference.ts";
import type { Image, RegistryAuth } from "../machine.ts";
import type { Engine } from "../engine.ts";
import { createShare } from "../share.ts";
import { followBuild } from "./build.ts";
import type { DockerClient } from "./client.ts";
import { type Attempt, refusal, timedOut, unlessStatus } from "./errors.ts";
import { inspectAt } from "./open-stream.ts";
import { envRecord, epochMs } from "./formats.ts";
import { createImageFiles } from "./image-files.ts";
import { createIdleWatch } from "./idle-watch.ts";
import { jsonLines, progressError } from "./json-lines.ts";

type Images = Pick<
  Engine,
  "inspectImage" | "pull" | "build" | "listImages" | "tagImage" | "removeImage" | "saveImage" | "loadImage"
>;

/** `pullIdleMs`: a pull without any sign of progress for that long has failed. */
export function createImages(engine: DockerClient, pullIdleMs: number): Images {
  const share = createShare<Image>();
  return {
    ...createImageFiles(engine, pullIdleMs),
    inspectImage: (refOrId) => inspect(engine, refOrId),

    pull: (ref, auth) =>
      share(JSON.stringify([canonicalReference(ref) ?? ref, auth ?? null]), () =>
        pull(engine, ref, { auth, pullIdleMs }),
      ),

    build: async (request) => {
      await followBuild(engine, request);
      const image = await inspect(engine, request.ref);
      if (image !== undefined) return image;
      throw new Failure("conflict", `${subject(request.ref)} was built and is gone again`, { reason: "ImageMissing" });
    },

    listImages: async () => {
      const rows = await engine.call({ verb: "list", subject: "images" }, (docker, abortSignal) =>
        docker.listImages({ abortSignal }),
      );
      return rows.map(imageRow);
    },

    tagImage: async (id, ref) => {
      const parsed = parseImageReference(ref);
      if (parsed === undefined) throw new Failure("invalid", `image "${ref}" is not a reference`);
      const name = { repo: parsed.name, tag: parsed.tag };
      return await engine.call({ verb: "tag", subject: subject(id) }, async (docker, abortSignal) => {
        const tagging = docker.getImage(id).tag({ ...name, ...inQuery(name), abortSignal });
        return await tagging.then(
          () => true,
          (error: unknown) => unlessStatus(404)(error) ?? false,
        );
      });
    },

    removeImage: async (refOrId) => {
      const name = engineName(refOrId);
      if (name === undefined) return;
      await engine.call({ verb: "remove", subject: subject(refOrId) }, async (docker, abortSignal) => {
        await docker.getImage(name).remove({ abortSignal }).catch(unlessStatus(404));
      });
    },
  };
}

/** Otherwise the signal would be part of the query. */
const inQuery = (query: object): object => ({ _query: query, _body: {} });

const subject = (refOrId: string) => `image "${refOrId}"`;

async function pull(
  engine: DockerClient,
  ref: string,
  { auth, pullIdleMs }: { auth: RegistryAuth | undefined; pullIdleMs: number },
): Promise<Image> {
  const parsed = parseImageReference(ref);
  if (parsed === undefined) {
    const message = `image "${ref}" is not a reference; write [registry/]name[:tag] or [registry/]name@sha256:<digest>`;
    throw new Failure("invalid", message, { reason: "ImagePull" });
  }
  const attempt = { verb: "pull", subject: subject(ref) };
  const source = { fromImage: parsed.name, tag: parsed.digest ?? parsed.tag ?? "latest" };
  await followPull(engine, attempt, { source, auth, idleMs: pullIdleMs });
  const image = await inspect(engine, ref);
  if (image !== undefined) return image;
  const message = `${subject(ref)} was pulled and is gone again; look for a clean-up that removes images`;
  throw new Failure("conflict", message, { reason: "ImageMissing" });
}

async function inspect(engine: DockerClient, refOrId: string): Promise<Image | undefined> {
  const name = engineName(refOrId);
  if (name === undefined) return undefined;
  const info = await engine.call({ verb: "inspect", subject: subject(refOrId) }, (docker, abortSignal) =>
    inspectAt<Dockerode.ImageInspectInfo>(docker, `/images/${name}/json`, abortSignal).catch(unlessStatus(404)),
  );
  return info === undefined ? undefined : imageDetail(info);
}

/** How the engine is asked for an image: with a digest the tag beside it would only be in the way. Undefined when malformed. */
function engineName(refOrId: string): string | undefined {
  if (isImageId(refOrId)) return refOrId;
  const parsed = parseImageReference(refOrId);
  if (parsed === undefined) return undefined;
  return parsed.digest === undefined ? `${parsed.name}:${parsed.tag}` : `${parsed.name}@${parsed.digest}`;
}

/** The engine writes `<none>` where there is nothing. */
const named = (texts: string[] | null | undefined) => (texts ?? []).filter((text) => !text.startsWith("<none>"));

/** Old images have one text, for a shell. */
function words(written: string | string[] | null | undefined): string[] {
  return typeof written === "string" ? [written] : (written ?? []);
}

function imageDetail(info: Dockerode.ImageInspectInfo): Image {
  return {
    id: info.Id,
    tags: named(info.RepoTags),
    digests: named(info.RepoDigests),
    sizeBytes: info.Size,
    createdAt: epochMs(info.Created) ?? 0,
    env: envRecord(info.Config?.Env),
    entrypoint: words(info.Config?.Entrypoint),
    command: words(info.Config?.Cmd),
    labels: info.Config?.Labels ?? {},
  };
}

function imageRow(row: Dockerode.ImageInfo): Image {
  return {
    id: row.Id,
    tags: named(row.RepoTags),
    digests: named(row.RepoDigests),
    sizeBytes: row.Size,
    createdAt: row.Created * 1000,
    env: {},
    entrypoint: [],
    command: [],
    labels: {},
  };
}

interface PullRequest {
  source: { fromImage: string; tag: string };
  auth: RegistryAuth | undefined;
  /** Longest silence. */
  idleMs: number;
}

/** Pulls and reads the progress to its end: only there, in a row of its own, does the engine tell of most errors. */
async function followPull(engine: DockerClient, attempt: Attempt, request: PullRequest): Promise<void> {
  const watch = createIdleWatch(request.idleMs, engine.held);
  try {
    const rows = jsonLines(await open(engine, attempt, { ...request, signal: watch.signal }));
    for await (const row of rows) {
      watch.progress();
      const words = progressError(row);
      if (words !== undefined) throw refusal({ status: undefined, words }, attempt);
    }
  } catch (error) {
    throw watch.idle() ? timedOut(attempt, request.idleMs) : engine.failure(error, attempt);
  } finally {
    watch.end();
  }
}

function open(
  engine: DockerClient,
  attempt: Attempt,
  { source, auth, idleMs, signal }: PullRequest & { signal: AbortSignal },
): Promise<AsyncIterable<Uint8Array | string>> {
  const options = { _query: source, _body: {}, abortSignal: signal };
  return engine.call(attempt, (docker) => docker.createImage(registryAuth(auth), options), idleMs);
}

function registryAuth(auth: RegistryAuth | undefined): object | undefined {
  if (auth === undefined) return undefined;
  return { username: auth.username, password: auth.password, serveraddress: auth.serverAddress };
}
