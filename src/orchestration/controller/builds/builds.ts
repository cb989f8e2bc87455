import { type Contexts, createContexts } from "../../../base/disk/contexts.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { parseCpu, parseMemory } from "../../../base/pure/quantity.ts";
import { createLimit } from "../../../base/words/limit.ts";
import type { Build, BuildContext, BuildRequest } from "../../api/builds.ts";
import { createSecretHider } from "../../core/build/hide-secrets.ts";
import { buildId } from "../../core/build/build-id.ts";
import { appId } from "../../core/naming.ts";
import type { BuildRecord } from "../../store/build-records.ts";
import type { Context } from "../state/context.ts";
import { createTranscript, type Transcript } from "../rollout/transcript.ts";
import { readBuildRequest } from "./request.ts";
import { secretsOf } from "./secrets.ts";

export interface BuildOptions {
  actor: string;
  /** Aborts when the client has gone: the build ends with it. */
  signal: AbortSignal;
  onLine?: ((line: string) => void) | undefined;
}

export interface BuildRoom {
  contextState(digest: string): Promise<BuildContext>;
  upload(digest: string, bytes: Uint8Array, at: { offset: number; last: boolean }): Promise<BuildContext>;
  /** Fails `invalid`, `conflict`/`ContextMissing`, `conflict`/`BuildSecretMissing`, `conflict`/`BuildFailed`. */
  build(body: unknown, options: BuildOptions): Promise<{ build: Build; reused: boolean }>;
  list(filter: { scope?: string | undefined; name?: string | undefined }): { builds: Build[] };
  /** What it printed. Fails `not_found`. */
  log(target: { scope: string; name: string; id: string }): { log: string };
  /** At a start: a killed server took its builds with it. */
  endUnfinished(): Promise<void>;
}

/** Builds of images from source, one after the other so that they starve nobody. */
export function createBuildRoom(context: Context): BuildRoom {
  const contexts = createContexts(context.layout.builds, context.limits.buildContexts);
  const turns = createLimit(context.limits.buildsAtOnceMax);
  /** Two clients that ask for the same build share it. */
  const underWay = new Map<string, Promise<unknown>>();

  const build = async (body: unknown, options: BuildOptions) => {
    const request = readBuildRequest(body);
    const record = draft(context, request, options.actor);
    const key = `${record.scope}/${record.name}/${record.id}`;
    while (underWay.has(key)) {
      options.onLine?.("the same image is being built by another request; waiting for it");
      await Promise.race([underWay.get(key), aborted(options.signal)]).catch(() => options.signal.throwIfAborted());
    }
    const known = request.again === true ? undefined : await present(context, record);
    if (known !== undefined) return { build: shown(known), reused: true };
    const secrets = secretsOf(context, request);
    const work = carryOut(context, { record, request, secrets, options, turns, contexts });
    underWay.set(key, work);
    try {
      return { build: shown(await work), reused: false };
    } finally {
      underWay.delete(key);
    }
  };

  return {
    build,
    list: (filter) => ({ builds: context.store.builds.list(filter, context.limits.eventsPageMax).map(shown) }),
    async contextState(digest) {
      return { digest, ...(await contexts.state(digest)) };
    },
    async upload(digest, bytes, at) {
      return { digest, ...(await contexts.append(digest, bytes, at)) };
    },
    log({ scope, name, id }) {
      const record = context.store.builds.get(scope, name, id);
      if (record !== undefined) return { log: record.log };
      throw new Failure("not_found", `no build "${id}" of ${scope}/${name}; GET /builds lists them`);
    },
    async endUnfinished() {
      const { store, clock } = context;
      const left = store.builds.unfinished();
      if (left.length === 0) return;
      await store.write((tx) => {
        for (const record of left) {
          tx.builds.put({
            ...record,
            status: "failed",
            endedAt: clock.now(),
            error: "the server ended: build it again",
          });
        }
      });
    },
  };
}

function draft({ clock }: Context, request: BuildRequest, actor: string): BuildRecord {
  const { scope, name, context, target, args = {}, dockerfile = "Dockerfile" } = request;
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

interface Work {
  record: BuildRecord;
  secrets: Record<string, string>;
  request: BuildRequest;
  options: BuildOptions;
  turns: ReturnType<typeof createLimit>;
  contexts: Contexts;
}

async function carryOut(context: Context, { options, turns, ...work }: Work): Promise<BuildRecord> {
  const { record, contexts } = work;
  const { complete } = await contexts.state(record.context);
  if (!complete) throw contextMissing(record);
  await context.store.write((tx) => tx.builds.put(record));
  const output = createTranscript(context.limits.buildLogBytesMax);
  const deadline = AbortSignal.timeout(context.limits.buildMs);
  const signal = AbortSignal.any([options.signal, context.closing, deadline]);
  try {
    options.onLine?.(`building ${record.image}`);
    return await turns(async () => {
      signal.throwIfAborted();
      const begun: BuildRecord = { ...record, status: "building", startedAt: context.clock.now() };
      await context.store.write((tx) => tx.builds.put(begun));
      return await runBuild(context, { ...work, record: begun, output, signal, onLine: options.onLine });
    });
  } catch (error) {
    const isOver = deadline.aborted && !options.signal.aborted;
    const failure = isOver ? tooLong(context.limits.buildMs) : error;
    const status = signal.aborted && !isOver ? "canceled" : "failed";
    const [text = ""] = (failure instanceof Error ? failure.message : String(failure)).split("\n");
    await end(context, { ...record, status, error: text, log: output.text() });
    throw failure;
  } finally {
    await contexts.collect(context.clock.now());
  }
}

interface Running {
  record: BuildRecord;
  secrets: Record<string, string>;
  contexts: Contexts;
  request: BuildRequest;
  output: Transcript;
  signal: AbortSignal;
  onLine: ((line: string) => void) | undefined;
}

async function runBuild(
  context: Context,
  { record, request, secrets, contexts, output, signal, onLine }: Running,
): Promise<BuildRecord> {
  const { engine, limits, names, store } = context;
  const hide = createSecretHider(secrets);
  const lines = createLines((text) => {
    const line = hide(text);
    output.write(`${line}\n`);
    onLine?.(line);
  });
  const { scope, name } = record;
  const building = engine.build({
    context: contexts.read(record.context),
    dockerfile: record.dockerfile,
    target: record.target,
    args: request.args ?? {},
    buildkit: request.buildkit === true || Object.keys(secrets).length > 0,
    secrets,
    ref: record.image,
    labels: { [`${names.prefix}.scope`]: scope, [`${names.prefix}.name`]: name, [`${names.prefix}.build`]: record.id },
    memoryBytes: atMost(limits.buildMemoryBytes, parseMemory(request.memory ?? "")),
    nanoCpus: parseCpu(request.cpu ?? ""),
    cpuShares: limits.buildCpuShares,
    idleMs: limits.buildIdleMs,
    onOutput: lines.push,
    signal,
  });
  const image = await building.finally(lines.end).catch((error: unknown) => {
    const isOfStep = error instanceof Failure && error.reason === "BuildFailed";
    throw isOfStep ? new Failure(error.code, hide(error.message), { reason: "BuildFailed" }) : error;
  });
  await store.write((tx) => tx.images.pulled(image.id, record.image, context.clock.now()));
  return await end(context, { ...record, status: "succeeded", imageId: image.id, log: output.text() });
}

function atMost(limit: number | undefined, wish: number | undefined): number | undefined {
  return wish === undefined || limit === undefined ? (wish ?? limit) : Math.min(wish, limit);
}

async function end({ store, clock }: Context, record: BuildRecord): Promise<BuildRecord> {
  const now = clock.now();
  const ended = { ...record, endedAt: now };
  const { scope, name, id, status, image, error, actor } = record;
  await store.write((tx) => {
    tx.builds.put(ended);
    const detail = { id, status, image, ...(error === undefined ? {} : { error }) };
    tx.events.append({ actor, action: "build", kind: "deployment", scope, name, detail }, now);
  });
  return ended;
}

function contextMissing({ context }: BuildRecord): Failure {
  return new Failure("conflict", `the folder ${context.slice(0, 12)} is not on the server: upload it first`, {
    reason: "ContextMissing",
  });
}

function tooLong(ms: number): Failure {
  return new Failure("timeout", `the build took longer than ${Math.round(ms / 60_000)} minutes and was ended`, {
    reason: "BuildFailed",
  });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** Whole lines out of parts of them. */
function createLines(onLine: (line: string) => void) {
  let rest = "";
  return {
    push(text: string) {
      const lines = (rest + text).split(/\r?\n/);
      rest = lines.pop() ?? "";
      for (const line of lines) onLine(line);
    },
    end() {
      if (rest !== "") onLine(rest);
      rest = "";
    },
  };
}

function shown({ imageId, target, startedAt, endedAt, error, log: _, ...build }: BuildRecord): Build {
  return {
    ...build,
    ...(target === undefined ? {} : { target }),
    ...(imageId === undefined ? {} : { image_id: imageId }),
    started_at: new Date(startedAt).toISOString(),
    ...(endedAt === undefined ? {} : { ended_at: new Date(endedAt).toISOString() }),
    ...(error === undefined ? {} : { error }),
  };
}
