import type { Contexts } from "../../../base/disk/contexts.ts";
import { buildLabels } from "../../core/build/built-for.ts";
import { parseCpu, parseMemory } from "../../../base/pure/quantity.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { Limit } from "../../../base/words/limit.ts";
import type { BuildRequest } from "../../api/builds.ts";
import { podKinds } from "../../api/manifest.ts";
import { createSecretHider } from "../../core/build/hide-secrets.ts";
import type { BuildRecord } from "../../store/build-records.ts";
import type { Transcript } from "../state/transcript.ts";
import type { Context } from "../state/context.ts";
import { nameLatest } from "../desired/latest-name.ts";

/** One build from its place in the queue to its end. */
interface Work {
  record: BuildRecord;
  secrets: Record<string, string>;
  request: BuildRequest;
  output: Transcript;
  contexts: Contexts;
  turns: Limit;
  /** Ends the build: its client has gone, somebody cancelled it, or the server ends. */
  signal: AbortSignal;
  onLine: ((line: string) => void) | undefined;
}

/** Waits for its turn, builds, and keeps how it ended. Fails as the build does. */
export async function carryOut(context: Context, work: Work): Promise<BuildRecord> {
  const { record, contexts, output, turns, onLine } = work;
  const deadline = AbortSignal.timeout(context.limits.buildMs);
  const signal = AbortSignal.any([work.signal, context.closing, deadline]);
  try {
    onLine?.(`building ${record.image}`);
    const turn = turns(async () => {
      signal.throwIfAborted();
      const begun: BuildRecord = { ...record, status: "building", startedAt: context.clock.now() };
      await context.store.write((tx) => tx.builds.put(begun));
      return await runBuild(context, { ...work, record: begun, signal });
    });
    // A build that waits in the queue ends at once; its turn finds that when it comes.
    return await Promise.race([turn, endOfQueue(context, record, signal)]);
  } catch (error) {
    const isOver = deadline.aborted && !work.signal.aborted;
    const failure = isOver ? tooLong(context.limits.buildMs) : error;
    const status = signal.aborted && !isOver ? "canceled" : "failed";
    const [text = ""] = (failure instanceof Error ? failure.message : String(failure)).split("\n");
    const last = context.store.builds.get(record.scope, record.name, record.id) ?? record;
    await end(context, { ...last, status, error: text, log: output.text() });
    throw failure;
  } finally {
    output.end();
    await contexts.collect(context.clock.now());
  }
}

/** Fails when the build is to end while it still waits; never resolves. */
function endOfQueue({ store }: Context, { scope, name, id }: BuildRecord, signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = () => {
    if (store.builds.get(scope, name, id)?.status === "queued") reject(signal.reason);
  };
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  return promise;
}

async function runBuild(context: Context, work: Work): Promise<BuildRecord> {
  const { engine, limits, names, store } = context;
  const { record, request, secrets, contexts, output, signal, onLine } = work;
  const hide = createSecretHider(secrets);
  const lines = createLines((text) => {
    const line = hide(text);
    output.write(`${line}\n`);
    onLine?.(line);
  });
  const { scope, name } = record;
  const building = engine.build({
    context: contexts.read(record.context, { app: `${scope}/${name}`, now: context.clock.now() }),
    dockerfile: record.dockerfile,
    target: record.target,
    args: { ...context.buildArguments, ...request.args },
    buildkit: request.buildkit === true || Object.keys(secrets).length > 0,
    secrets,
    ref: record.image,
    labels: buildLabels(names, record),
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
  const made = { imageId: image.id, imageBytes: image.sizeBytes, log: output.text() };
  await nameLatest(context, { ...record, imageId: image.id }, request);
  const ended = await end(context, { ...record, status: "succeeded", ...made });
  // What was stored before it was built waits for this.
  for (const kind of podKinds) context.enqueue({ kind, scope, name });
  return ended;
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

function tooLong(ms: number): Failure {
  return new Failure("timeout", `the build took longer than ${Math.round(ms / 60_000)} minutes and was ended`, {
    reason: "BuildFailed",
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
