import { own } from "../../../base/pure/fields.ts";
import { isoTime } from "../../../base/pure/iso-time.ts";
import { formatKey, type ManifestKey, type StoredManifest } from "../../api/manifest.ts";
import type { listDeliveries } from "../../api/webhooks.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { type DeployNews, deployPayload } from "../../core/webhook-payload.ts";
import { draftWebhooks, type Drafting, type WebhookDraft, webhookTemplates } from "../../core/webhooks.ts";
import { podOf } from "../../core/spec/decode.ts";
import { shownUrl } from "../../../base/pure/shown-url.ts";
import { MASK } from "../../core/mask.ts";
import { createOutbox, type CallState, type Outbox } from "../../../base/deliver/outbox.ts";
import type { SendWebhook } from "../../../base/deliver/webhook.ts";
import type { Delivery, Transaction } from "../../store/store.ts";
import type { Context } from "./context.ts";
import type { Target } from "../requests.ts";
import { resolvePodTarget } from "./target.ts";

/** Longest time that a call is held back: see `core/probe-webhooks.ts`. */
const longestWaitMs = 60_000;

interface Ending {
  manifest: StoredManifest;
  /** Undefined for a restart or a change of config. */
  releaseId: string | undefined;
  image: string;
  startedAt: number;
  /** Undefined: it succeeded. */
  error: string | undefined;
}

/**
 * The `on_deploy` calls about the end of a rollout, ready to be put into the transaction that records it: templates
 * are read from disk here, which a transaction could not wait for. A rollout that found everything in place already
 * is not worth a call; one that failed always is.
 */
export async function deployCalls(context: Context, ending: Ending): Promise<Delivery[]> {
  const { manifest, releaseId, image, startedAt, error } = ending;
  const outcome = error === undefined ? "success" : "failure";
  const hooks = podOf(manifest)?.onDeploy[outcome] ?? [];
  if (hooks.length === 0 || (error === undefined && !changedContainersSince(context, manifest, startedAt))) return [];
  const news: DeployNews = { outcome, releaseId, image, startedAt, completedAt: context.clock.now(), error };
  const about = releaseId ?? `${formatKey(manifest)}:${manifest.generation}`;
  const drafts = await draftCalls(context, manifest, {
    event: `deploy.${outcome}`,
    hooks,
    payload: deployPayload(manifest, news),
  });
  const now = context.clock.now();
  return drafts.map((draft, index) =>
    deliveryOf(manifest, draft, { id: `${about}:${outcome}:${index}`, about: "deploy", now, sendAt: now }),
  );
}

/** Whether the reconciler made or removed a container of the resource since then. */
function changedContainersSince(context: Context, key: ManifestKey, since: number): boolean {
  const { kind, scope, name } = key;
  const changes = new Set(["replica.create", "replica.remove"]);
  const events = context.store.events.list({ kind, scope, name, limit: context.limits.eventsPageMax });
  return events.some(({ action, at }) => at >= since && changes.has(action));
}

export async function draftCalls(
  context: Context,
  manifest: StoredManifest,
  drafting: Pick<Drafting, "event" | "hooks" | "payload">,
): Promise<WebhookDraft[]> {
  if (drafting.hooks.length === 0) return [];
  const templates = await readTemplates(context, drafting.hooks, manifest.scope);
  return draftWebhooks({ ...drafting, templates, bodyBytesMax: context.limits.webhookBodyBytesMax });
}

async function readTemplates(context: Context, hooks: Drafting["hooks"], scope: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const [reference, candidates] of webhookTemplates(hooks, scope)) {
    const digests = candidates.map(({ scope: at, name, key }) => {
      const { files = {} } = context.store.assetFiles.get({ kind: "asset", scope: at, name }) ?? {};
      return own(files, key);
    });
    const digest = digests.find((one) => one !== undefined);
    const bytes = digest === undefined ? undefined : await context.assets.read(digest);
    if (bytes !== undefined) texts.set(reference, new TextDecoder().decode(bytes));
  }
  return texts;
}

interface Placing {
  id: string;
  /** Calls about the same go to one origin in the order in which they were made. */
  about: string;
  now: number;
  sendAt: number;
}

/** A draft that cannot be sent as written is on record all the same, as dropped. */
export function deliveryOf(
  { kind, scope, name }: ManifestKey,
  draft: WebhookDraft,
  { id, about, now, sendAt }: Placing,
): Delivery {
  const { problem, ...call } = draft;
  const status = problem === undefined ? "waiting" : "dropped";
  // A receiver can have one address for good news and another for bad ones.
  const subject = `${about} ${URL.canParse(draft.url) ? new URL(draft.url).origin : ""}`;
  const times = { attempts: 0, nextAt: sendAt, createdAt: now, lastResult: problem };
  return { kind, scope, name, ...call, id, subject, status, ...times };
}

/** Part of the transaction that the calls tell about; wake the outbox after it. */
export function putCalls(tx: Transaction, calls: readonly Delivery[]): void {
  for (const call of calls) {
    tx.deliveries.put(call);
    if (call.status === "dropped") noteEnd(tx, call, call.createdAt);
  }
}

type OutboxContext = Pick<Context, "store" | "clock" | "log" | "limits">;

/** The worker that sends what transactions have put into the store. */
export function createHookOutbox(context: OutboxContext, send: SendWebhook): Outbox {
  const { store, clock, log, limits } = context;
  return createOutbox<Delivery>({
    waiting: (limit) => store.deliveries.due(Number.MAX_SAFE_INTEGER, limit),
    record: (call, state) => recordAttempt(context, call, state),
    send,
    clock,
    log,
    pausesMs: limits.webhookPausesMs,
    longestWaitMs,
    inFlightMax: limits.webhooksInFlightMax,
  });
}

async function recordAttempt({ store, clock }: OutboxContext, call: Delivery, state: CallState): Promise<void> {
  const ended = { ...call, ...state };
  await store.write((tx) => {
    tx.deliveries.put(ended);
    if (state.status !== "waiting") noteEnd(tx, ended, clock.now());
  });
}

/** Never the headers, the body or the path: all three may hold a token. */
function noteEnd(tx: Transaction, call: Delivery, now: number): void {
  const { kind, scope, name, id, event, url, attempts, lastResult } = call;
  const action = call.status === "delivered" ? "hook.delivered" : "hook.dropped";
  const host = URL.canParse(url) ? new URL(url).host : "";
  const detail = { delivery: id, event, host, attempts, result: lastResult };
  tx.events.append({ actor: "reconciler", action, kind, scope, name, detail }, now);
}

/** GET /hooks/deliveries. */
export function deliveries(context: Context, target: Target & { limit: number }): DataOf<typeof listDeliveries> {
  const key = resolvePodTarget(context.store.manifests, target);
  const limit = Math.min(target.limit, context.limits.eventsPageMax);
  return { deliveries: context.store.deliveries.list(key, limit).map(wireDelivery) };
}

function wireDelivery(call: Delivery) {
  return {
    id: call.id,
    event: call.event,
    method: call.method,
    url: shownUrl(call.url),
    headers: Object.fromEntries(Object.keys(call.headers).map((name) => [name, MASK])),
    body_bytes: Buffer.byteLength(call.body),
    status: call.status,
    attempts: call.attempts,
    created_at: isoTime(call.createdAt),
    ...(call.status === "waiting" ? { next_at: isoTime(call.nextAt) } : {}),
    ...(call.lastResult === undefined ? {} : { last_result: call.lastResult }),
  };
}
