import { isoTime } from "../base/pure/iso-time.ts";
import { isFields } from "../base/pure/fields.ts";
import { systemClock } from "../base/words/clock.ts";
import { listManifests, type ListedManifest } from "../orchestration/api/apply.ts";
import { describe } from "../orchestration/api/describe.ts";
import { listPods } from "../orchestration/api/pods.ts";
import { uncertifiedHosts } from "../orchestration/core/local-names.ts";
import { decodeSpec } from "../orchestration/core/spec/decode.ts";
import { withData } from "./data.ts";
import type { Ask, Translation } from "./translation.ts";

/**
 * That client prints no warning of an apply. It looks at `last_reconcile_error` of the deployments and statefulsets that
 * it applied, and at the list `degraded`: what keeps visitors out stands there too.
 */
export const troubles: Translation = {
  claims: (method, path) => method === "GET" && (path === describe.path || path === listPods.path),
  answer(answer, sent, ask) {
    const { pathname, searchParams } = new URL(sent.url);
    return withData(answer, (data) =>
      pathname === listPods.path ? degraded(data, searchParams, ask) : described(data, ask),
    );
  },
};

async function degraded(data: Record<string, unknown>, asked: URLSearchParams, ask: Ask) {
  const known = Array.isArray(data.degraded) ? data.degraded : [];
  const kind = asked.get("kind") ?? "";
  if (kind !== "" && kind !== "ingress") return data;
  const named = (row: { name: string }) =>
    known.some((one) => isFields(one) && one.kind === "ingress" && one.name === row.name);
  const rows = await unserved(ask, { scope: asked.get("scope") ?? "", name: asked.get("name") ?? "" });
  const more = rows
    .filter(({ manifest }) => !named(manifest))
    .map(({ manifest: { scope, name }, why }) => ({ kind: "ingress", scope, name, reason: why }));
  return { ...data, degraded: [...known, ...more] };
}

async function described(data: Record<string, unknown>, ask: Ask) {
  const { manifest, status } = data;
  if (!isFields(manifest) || !isFields(status)) return data;
  const { kind, scope, name } = manifest as unknown as ListedManifest;
  if (kind === "ingress") {
    const why = whyUnserved({ ...(manifest as unknown as ListedManifest), status });
    return why === undefined
      ? data
      : { ...data, status: { ...status, phase: phaseOf(status), last_reconcile_error: why } };
  }
  if (kind !== "deployment" && kind !== "statefulset") return data;
  const led = (await unserved(ask, { scope: scope ?? "", name: "" })).filter(
    (row) => (decodeSpec("ingress", row.manifest.spec).service ?? row.manifest.name) === name,
  );
  // A first replica that starts is not a trouble of its ingress; what the proxy does not have at all is.
  const isStarting = status.phase === "progressing";
  const wrong = led.filter(({ why }) => !isStarting || why.startsWith("not served"));
  const own = typeof status.last_reconcile_error === "string" ? [status.last_reconcile_error] : closedPorts(status);
  const all = [...own, ...wrong.map(({ manifest: { scope, name }, why }) => `ingress/${scope}/${name}: ${why}`)];
  const told = all.length === 0 ? {} : { last_reconcile_error: all.join("; ") };
  return { ...data, status: { ...status, ...told, ...lookedAt(manifest, status, all.length > 0) } };
}

/** It waits until this is later than its own apply. A status that says nothing new keeps its time, and is as of now. */
function lookedAt(manifest: Record<string, unknown>, status: Record<string, unknown>, isTold: boolean) {
  const revision = isFields(manifest.metadata) ? manifest.metadata.revision : undefined;
  const isCurrent = revision !== undefined && status.observed_revision === revision;
  const isUnderWay = status.phase === "progressing" && !isTold;
  return isCurrent && !isUnderWay ? { last_reconcile_at: isoTime(systemClock.now()) } : {};
}

/** The last warnings of a status are those of its closed ports. */
function closedPorts({ closed_ports: closed, warnings }: Record<string, unknown>): string[] {
  return Array.isArray(closed) && Array.isArray(warnings) && closed.length > 0 ? warnings.slice(-closed.length) : [];
}

async function unserved(ask: Ask, { scope, name }: { scope: string; name: string }) {
  const query = new URLSearchParams({ kind: "ingress", status: "true", scope, name });
  const rows = await ask(`${listManifests.path}?${query}`);
  return (Array.isArray(rows) ? (rows as ListedManifest[]) : []).flatMap((manifest) => {
    const why = whyUnserved(manifest);
    return why === undefined ? [] : [{ manifest, why }];
  });
}

/** While it is on its way nothing is wrong yet. */
function whyUnserved({ kind, spec, status = {} }: ListedManifest): string | undefined {
  const isWrong = status.phase === "stored" || status.phase === "failing";
  if (isWrong && typeof status.last_reconcile_error === "string") return status.last_reconcile_error;
  return kind === "ingress" ? uncertifiedHosts("ingress", spec)[0] : undefined;
}

const phaseOf = ({ phase }: Record<string, unknown>) => (phase === "stored" ? "stored" : "failing");
