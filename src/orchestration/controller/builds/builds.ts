import { type Contexts, createContexts } from "../../../base/disk/contexts.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { createLimit } from "../../../base/words/limit.ts";
import type { Build, BuildContext, BuildRequest } from "../../api/builds.ts";
import { buildId } from "../../core/build/build-id.ts";
import { appId } from "../../core/naming.ts";
import type { BuildAsked, BuildRecord } from "../../store/build-records.ts";
import { createTranscript, type Transcript } from "../state/transcript.ts";
import type { Context } from "../state/context.ts";
import { carryOut } from "./carry-out.ts";
import { newestBuild } from "../desired/newest-build.ts";
import { requireOwnImageName } from "./image-name.ts";
import { nameLatest } from "../desired/latest-name.ts";
import { readBuildRequest } from "./request.ts";
import { secretsOf } from "./secrets.ts";
import { showBuilds } from "./shown.ts";

interface BuildOptions {
  actor: string;
  /** Aborts when the client has gone: the build ends with it. Left out: it goes on by itself. */
  signal?: AbortSignal;
  onLine?: ((line: string) => void) | undefined;
  /** Answers when the build is in the queue. */
  detached?: boolean;
}

interface BuildTarget {
  scope: string;
  name: string;
  id: string;
}

/** What callers of the plane do with builds. */
interface BuildOperations {
  contextState(digest: string): Promise<BuildContext>;
  /** One part of a packed folder. Fails `conflict`/`ContextOffset`, `too_large`, `invalid`. */
  uploadContext(digest: string, bytes: Uint8Array, at: { offset: number; last: boolean }): Promise<BuildContext>;
  /** Fails `invalid`, `conflict`/`ContextMissing`, `conflict`/`BuildSecretMissing`, `conflict`/`BuildFailed`. */
  build(body: unknown, options: BuildOptions): Promise<{ build: Build; reused: boolean }>;
  listBuilds(filter: { scope?: string | undefined; name?: string | undefined }): { builds: Build[] };
  /** What it printed, or has printed so far. Fails `not_found`. */
  buildLog(target: BuildTarget): { log: string };
  /** From the first kept byte to the end of the build. Fails `not_found`. */
  followBuild(target: BuildTarget, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Resolves when it has ended. Fails `not_found`, and `conflict` where it has ended already. */
  cancelBuild(target: BuildTarget): Promise<{ build: Build }>;
  /** Queues the same build once more. Fails `not_found`, and `conflict` where it runs, or its folder or secrets are gone. */
  retryBuild(target: BuildTarget, options: { actor: string }): Promise<{ build: Build }>;
}

export interface BuildRoom {
  operations: BuildOperations;
  /** At a start: a killed server took its builds with it. */
  endUnfinished(): Promise<void>;
}

/** A build that is queued or under way. */
interface Running {
  output: Transcript;
  stop: AbortController;
  /** Resolves when it is on record. */
  queued: Promise<void>;
  done: Promise<BuildRecord>;
}

const keyOf = ({ scope, name, id }: BuildTarget) => `${scope}/${name}/${id}`;

/** Builds of images from source, one after the other so that they starve no app. */
export function createBuildRoom(context: Context): BuildRoom {
  const contexts = createContexts(context.layout.builds, context.limits.buildContexts);
  const turns = createLimit(context.limits.buildsAtOnceMax);
  /** Two clients that ask for the same build share it. */
  const underWay = new Map<string, Running>();
  const shown = (record: BuildRecord): Build => showBuilds(context, [record])[0] as Build;

  const start = (record: BuildRecord, request: BuildRequest, options: BuildOptions): Running => {
    const output = createTranscript(context.limits.buildLogBytesMax);
    const stop = new AbortController();
    const signal = options.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, options.signal]);
    const secrets = secretsOf(context, request);
    const queued = Promise.withResolvers<void>();
    const work = async () => {
      if (!(await contexts.state(record.context)).complete) throw contextMissing(record);
      await context.store.write((tx) => tx.builds.put(record));
      queued.resolve();
      return carryOut(context, { record, request, secrets, output, contexts, turns, signal, onLine: options.onLine });
    };
    const done = work().finally(() => underWay.delete(keyOf(record)));
    done.catch(queued.reject);
    queued.promise.catch(() => undefined);
    const running = { output, stop, done, queued: queued.promise };
    underWay.set(keyOf(record), running);
    return running;
  };

  const build = async (body: unknown, options: BuildOptions) => {
    const request = readBuildRequest(body);
    const record = draft(context, request, options.actor);
    requireOwnImageName(context, record);
    const same = underWay.get(keyOf(record));
    if (options.detached === true && same !== undefined) {
      await same.queued;
      return { build: shown(context.store.builds.get(record.scope, record.name, record.id) ?? record), reused: false };
    }
    for (;;) {
      while (underWay.has(keyOf(record))) {
        options.onLine?.("the same image is being built by another request; waiting for it");
        await endOf(underWay.get(keyOf(record)), options.signal);
      }
      const known = request.again === true ? undefined : await present(context, record);
      // The latest one is made again where another came after it: it costs little, and is the newest then.
      const isOld = request.latest === true && newestBuild(context.store, record)?.id !== record.id;
      if (known !== undefined && !isOld) {
        await nameLatest(context, known, request);
        return { build: shown(known), reused: true };
      }
      // The engine was asked: another request for the same image may have come first meanwhile.
      if (!underWay.has(keyOf(record))) break;
    }
    const running = start(record, request, options);
    if (options.detached !== true) return { build: shown(await running.done), reused: false };
    await running.queued;
    return { build: shown(record), reused: false };
  };
  return {
    operations: operationsOf({ context, contexts, underWay, shown, build }),
    async endUnfinished() {
      const { store, clock } = context;
      const left = store.builds.unfinished();
      if (left.length === 0) return;
      const how = { status: "failed", endedAt: clock.now(), error: "the server ended: build it again" } as const;
      await store.write((tx) => {
        for (const record of left) tx.builds.put({ ...record, ...how });
      });
    },
  };
}

interface Parts {
  context: Context;
  contexts: Contexts;
  underWay: ReadonlyMap<string, Running>;
  shown: (record: BuildRecord) => Build;
  build: BuildOperations["build"];
}

export function noBuild({ scope, name, id }: BuildTarget): Failure {
  return new Failure("not_found", `no build "${id}" of ${scope}/${name}; see: berth build list ${scope}/${name}`);
}

function operationsOf({ context, contexts, underWay, shown, build }: Parts): BuildOperations {
  const { store, limits } = context;
  const recordOf = (target: BuildTarget): BuildRecord => {
    const record = store.builds.get(target.scope, target.name, target.id);
    if (record !== undefined) return record;
    throw noBuild(target);
  };
  return {
    build,
    listBuilds: (filter) => ({ builds: showBuilds(context, store.builds.list(filter, limits.eventsPageMax)) }),
    async contextState(digest) {
      return { digest, ...(await contexts.state(digest)) };
    },
    async uploadContext(digest, bytes, at) {
      return { digest, ...(await contexts.append(digest, bytes, at)) };
    },
    buildLog(target) {
      const record = recordOf(target);
      return { log: underWay.get(keyOf(target))?.output.text() ?? record.log };
    },
    followBuild(target, signal) {
      const { log } = recordOf(target);
      return underWay.get(keyOf(target))?.output.follow(signal) ?? whole(log);
    },
    async cancelBuild(target) {
      const record = recordOf(target);
      const running = underWay.get(keyOf(target));
      if (running === undefined) throw new Failure("conflict", `the build has ended already: ${record.status}`);
      running.stop.abort(new Failure("conflict", "the build was cancelled"));
      await running.done.catch(() => undefined);
      return { build: shown(recordOf(target)) };
    },
    async retryBuild(target, { actor }) {
      const body = requestOf(recordOf(target));
      if (underWay.has(keyOf(target))) throw new Failure("conflict", "the build is under way: cancel it first");
      return { build: (await build(body, { actor, detached: true })).build };
    },
  };
}

async function* whole(text: string): AsyncGenerator<Uint8Array> {
  if (text !== "") yield new TextEncoder().encode(text);
}

/** What is asked for once more. Fails where a secret came with the request. */
function requestOf({ scope, name, context, dockerfile, target, git, asked = {} }: BuildRecord): BuildRequest {
  const { given = [], ...request } = asked;
  if (given.length > 0) {
    const text = `the build used ${given.join(", ")}, which the server did not keep: build it again with berth build --again`;
    throw new Failure("conflict", text, { reason: "BuildSecretMissing" });
  }
  const more = { ...(target === undefined ? {} : { target }), ...(git === undefined ? {} : { git }) };
  return { scope, name, context, dockerfile, ...more, ...request, again: true };
}

/** What of a request is kept. */
function askedOf({ args, config_secrets, buildkit, memory, cpu, secrets = {} }: BuildRequest): BuildAsked {
  const given = Object.keys(secrets);
  return JSON.parse(
    JSON.stringify({ args, config_secrets, buildkit, memory, cpu, ...(given.length === 0 ? {} : { given }) }),
  ) as BuildAsked;
}

function draft({ clock }: Context, request: BuildRequest, actor: string): BuildRecord {
  const { scope, name, context, target, args = {}, dockerfile = "Dockerfile", git } = request;
  const id = buildId({ context, dockerfile, target, args });
  return {
    scope,
    name,
    id,
    status: "queued",
    context,
    dockerfile,
    target,
    image: `${appId(scope, name)}:${id}`,
    imageId: undefined,
    asked: askedOf(request),
    git,
    actor,
    startedAt: clock.now(),
    endedAt: undefined,
    error: undefined,
    log: "",
  };
}

/** The build as recorded, where it succeeded and its image is still there. */
async function present({ store, engine }: Context, { scope, name, id }: BuildRecord): Promise<BuildRecord | undefined> {
  const known = store.builds.get(scope, name, id);
  if (known?.status !== "succeeded") return undefined;
  const image = await engine.inspectImage(known.image);
  return image?.id === known.imageId ? known : undefined;
}

function contextMissing({ context }: BuildRecord): Failure {
  return new Failure("conflict", `the folder ${context.slice(0, 12)} is not on the server: upload it first`, {
    reason: "ContextMissing",
  });
}

/** However the other build ends; fails when the client leaves before that. */
async function endOf(running: Running | undefined, signal: AbortSignal | undefined): Promise<void> {
  const left = Promise.withResolvers<never>();
  const leave = () => left.reject(signal?.reason);
  signal?.addEventListener("abort", leave, { once: true });
  if (signal?.aborted) leave();
  try {
    await Promise.race([running?.done.catch(() => undefined), left.promise]);
  } finally {
    signal?.removeEventListener("abort", leave);
    left.promise.catch(() => undefined);
  }
}
