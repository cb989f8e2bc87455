import { Failure } from "../../../base/wire/failure.ts";
import { containerKinds, formatKey, type StoredManifest } from "../../api/manifest.ts";
import { decodeSpec } from "../../core/spec/decode.ts";
import { claimMounts } from "../../core/container-spec.ts";
import { readRunAppBody } from "../../core/exec-request.ts";
import { parseKind } from "../../core/kind.ts";
import { attachedRunName, oneOffSpec } from "../../core/one-off-spec.ts";
import { replicaId } from "../../../base/pure/replica-id.ts";
import { isJobKind } from "../../core/resolve-job.ts";
import type { ContainerSpec, ContainerTemplate } from "../../core/workload.ts";
import type { PodRef } from "../../engine/pod.ts";
import type { ExecSession } from "../../engine/session.ts";
import type { Context } from "../state/context.ts";
import type { AppRun, ExecOptions, Target } from "../requests.ts";
import type { ExecRoom } from "../pods/exec.ts";
import { prepare } from "../rollout/execute.ts";
import type { ImageUse } from "../desired/images.ts";
import { withInit } from "../desired/init-process.ts";
import { rolloutTarget } from "../rollout/rollout.ts";
import { refuseUnresolved, resolveStored, resolveStoredJob } from "../desired/resolve.ts";
import { isPodKind, notStored, required } from "../state/target.ts";
import { ensureClaims } from "../desired/volumes.ts";

/** `ordinal`: whose claim volumes it gets. */
export type AppTarget = Target & { ordinal?: string | undefined };

/** A command that is ended does not hold up its server for longer, whatever the app's own grace. */
const graceMaxMs = 10_000;

/**
 * POST /run: a command in a container of its own, made as those of the app, and removed with the end of the session.
 * Fails as `execPod`, `not_found` for an unknown app, `too_many` when too many run at once.
 */
export async function runApp(
  context: Context,
  execs: ExecRoom,
  request: { target: AppTarget; body: unknown; options: ExecOptions },
): Promise<AppRun> {
  const { link, limits, attached, engine } = context;
  const { options } = request;
  const body = readRunAppBody(request.body);
  const manifest = findApp(context, request.target);
  const ordinal = ordinalOf(manifest, request.target.ordinal);
  link.require();
  if (attached.size >= limits.appRunsMax) {
    const most = `${limits.appRunsMax} commands run in containers of their own already; end one, or try again later`;
    throw new Failure("too_many", most);
  }
  const id = replicaId(context.randomBytes(5));
  const name = attachedRunName(manifest, id);
  // Before the container is made: it must not look as if it were left over.
  attached.add(name);
  try {
    const spec = await specOf(context, { manifest, ordinal, id, body, options });
    const graceMs = Math.min(spec.stopGraceMs, graceMaxMs);
    const container = await engine.create(spec);
    const { tty, interactive, size } = options;
    const session = await engine
      .startAttached(container, { tty, interactive, graceMs, ...(size === undefined ? {} : { size }) })
      .catch(async (error: unknown) => {
        await engine.remove(container);
        throw error;
      });
    const detail = { pod: name, program: body.command[0] ?? "", tty };
    record(context, manifest, { actor: options.actor, action: "pod.run", detail });
    const run: Run = { name, manifest, actor: options.actor, container, session };
    return { ...execs.track(name, removedAtEnd(context, run)), container: name };
  } catch (error) {
    attached.delete(name);
    throw error;
  }
}

/** The one resource that runs containers and has that name. */
function findApp({ store }: Context, { kind, scope, name }: Target): StoredManifest {
  const wanted = required(name, "name");
  const kinds = kind ? [appKind(kind)] : containerKinds;
  const found = kinds.flatMap((one) => store.manifests.list({ kind: one, name: wanted, ...(scope ? { scope } : {}) }));
  const apps = found.some((one) => isPodKind(one.kind)) ? found.filter((one) => isPodKind(one.kind)) : found;
  const [first, ...others] = apps;
  if (first === undefined) throw notStored(store.manifests, kinds, { scope, name: wanted });
  if (others.length > 0) {
    const list = apps.map(formatKey).join(", ");
    throw new Failure("invalid", `"${wanted}" is ambiguous: ${list}; say which with kind and scope`);
  }
  return first;
}

function appKind(text: string): (typeof containerKinds)[number] {
  const kind = parseKind(text);
  const found = containerKinds.find((one) => one === (kind === "app" ? "deployment" : kind));
  if (found !== undefined) return found;
  throw new Failure("invalid", `kind "${text}" runs no containers; use one of ${containerKinds.join(", ")}`);
}

/** Whose claim volumes it gets; undefined where there are none. */
function ordinalOf({ kind, scope, name, spec }: StoredManifest, text: string | undefined): number | undefined {
  if (kind !== "statefulset") {
    if (!text) return undefined;
    throw new Failure("invalid", `ordinal: a ${kind} has no numbered pods; leave "${text}" out`);
  }
  if (text) {
    if (/^\d{1,4}$/.test(text)) return Number(text);
    throw new Failure("invalid", `ordinal: "${text}" is not a number; use that of a pod, such as 0`);
  }
  const { volumeClaims, replicas } = decodeSpec(kind, spec);
  if (volumeClaims.length === 0) return undefined;
  if (replicas === 1) return 0;
  const way = `name the pod whose volumes it gets, such as ${scope}/${name}.0`;
  throw new Failure("invalid", `statefulset "${scope}/${name}" has volumes for each pod: ${way}`);
}

interface Making {
  manifest: StoredManifest;
  ordinal: number | undefined;
  id: string;
  body: ReturnType<typeof readRunAppBody>;
  options: ExecOptions;
}

async function specOf(context: Context, making: Making): Promise<ContainerSpec> {
  const { manifest, id, body, options } = making;
  const { template, imageRef } = await templateOf(context, making);
  const { scope, name, kind } = manifest;
  const one = {
    ...{ kind, scope, name, imageRef, replicaId: id, command: body.command },
    containerName: attachedRunName(manifest, id),
    role: "run" as const,
    env: Object.fromEntries(body.env.map((row) => [row.slice(0, row.indexOf("=")), row.slice(row.indexOf("=") + 1)])),
    createdAt: context.clock.now(),
  };
  const { tty, interactive, size, workdir, user } = options;
  const own = {
    ...(workdir === undefined ? {} : { workingDir: workdir }),
    ...(user === undefined ? {} : { user }),
    ...(body.entrypoint === undefined ? {} : { entrypoint: [body.entrypoint] }),
  };
  const spec = oneOffSpec({ ...template, options: { ...template.options, ...own } }, one, context.names);
  // The kernel keeps Ctrl-C from process 1 where that does not ask for it: the command would hold the terminal.
  const initUnlessOwn = tty && spec.options.init === undefined;
  return (await withInit(context, { ...spec, attach: { tty, interactive, size } }, { initUnlessOwn })).spec;
}

interface Made {
  template: ContainerTemplate;
  imageRef: string;
}

/** What replicas, or runs of the job, would be made from now. */
async function templateOf(context: Context, { manifest, ordinal }: Making): Promise<Made> {
  if (isJobKind(manifest.kind)) {
    const { job, problems } = resolveStoredJob(context, manifest);
    refuseUnresolved(problems);
    return made(context, job);
  }
  const { workload, problems } = resolveStored(context, rolloutTarget(context, manifest) ?? manifest);
  refuseUnresolved(problems);
  if (ordinal === undefined) return made(context, workload);
  await ensureClaims(context, workload, ordinal);
  const mounts = [...workload.container.mounts, ...claimMounts(workload, ordinal, context.names)];
  return made(context, { ...workload, container: { ...workload.container, mounts } });
}

async function made(context: Context, use: ImageUse & { container: ContainerTemplate }): Promise<Made> {
  return { template: use.container, imageRef: await prepare(context, use) };
}

interface Run {
  /** Name of the container. */
  name: string;
  manifest: StoredManifest;
  actor: string;
  container: PodRef;
  session: ExecSession;
}

/** The container goes with the session, whichever way that ends. What cannot be removed now, a later look removes. */
function removedAtEnd(context: Context, { name, manifest, actor, container, session }: Run): ExecSession {
  let ended: Record<string, unknown> = { why: "its client or the server went away" };
  let killed = false;
  let removal: Promise<void> | undefined;
  const remove = () => {
    removal ??= context.engine
      .remove(container)
      .catch((error: unknown) => context.log.warn("container not removed", { container: name, error }))
      .finally(() => {
        context.attached.delete(name);
        record(context, manifest, { actor, action: "pod.run_ended", detail: { pod: name, ...ended } });
      });
    return removal;
  };
  return {
    ...session,
    exitCode: async () => {
      try {
        const exitCode = await session.exitCode();
        if (!killed) ended = { exit_code: exitCode };
        return exitCode;
      } finally {
        await remove();
      }
    },
    kill: async () => {
      killed = true;
      try {
        await session.kill();
      } finally {
        await remove();
      }
    },
  };
}

/** Not waited for: a store that is full must not lock the operator out. */
function record(
  { store, clock, log }: Context,
  manifest: StoredManifest,
  event: { actor: string; action: string; detail: Record<string, unknown> },
): void {
  const { kind, scope, name } = manifest;
  store
    .write((tx) => tx.events.append({ ...event, kind, scope, name }, clock.now()))
    .catch((error: unknown) => log.error("event not written", { action: event.action, error }));
}
