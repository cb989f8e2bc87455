import { own } from "../../base/pure/fields.ts";
import type { CoreKind, Spec } from "../api/manifest.ts";
import { type AssetTarget, assetCandidates } from "./assets.ts";
import type { WebhookPayload } from "./webhook-payload.ts";
import { placeholdersIn } from "./placeholders.ts";
import { decodeSpec } from "./spec/decode.ts";
import type { DecodedWebhook } from "./spec/webhooks.ts";

/** One request that a manifest asks for, all tokens filled in. */
export interface WebhookDraft {
  /** `deploy.success`, `deploy.failure`, `probe.failure` or `probe.recovery`. */
  event: string;
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
  /** Why it cannot be sent as written; undefined when it can. */
  problem: string | undefined;
}

/** Every list of webhooks of a resource: `on_deploy.success` and the like. */
export function webhookLists(kind: CoreKind, spec: Spec): { path: string; hooks: readonly DecodedWebhook[] }[] {
  if (kind !== "deployment" && kind !== "statefulset") return [];
  const { onDeploy, onProbe } = decodeSpec(kind, spec);
  return [
    { path: "on_deploy.success", hooks: onDeploy.success },
    { path: "on_deploy.failure", hooks: onDeploy.failure },
    { path: "on_probe.failure", hooks: onProbe?.failure ?? [] },
    { path: "on_probe.recovery", hooks: onProbe?.recovery ?? [] },
  ];
}

/** Assets whose content is the body of a webhook: by the reference as written, the places to look in order. */
export function webhookTemplates(hooks: readonly DecodedWebhook[], ownScope: string): Map<string, AssetTarget[]> {
  const found = new Map<string, AssetTarget[]>();
  for (const { file } of hooks) {
    const [placeholder] = placeholdersIn(file ?? "");
    if (placeholder?.type === "asset") found.set(placeholder.text, assetCandidates(placeholder.asset, ownScope));
  }
  return found;
}

export interface Drafting {
  event: string;
  hooks: readonly DecodedWebhook[];
  payload: WebhookPayload;
  /** Content of the asset files that `file` names; one that is missing is not there or cannot be read. */
  templates: ReadonlyMap<string, string>;
  bodyBytesMax: number;
}

/** One request per webhook of a list. `{{field}}` of an unknown field stays as it is (docs/contract/orchestration.md, 5). */
export function draftWebhooks({ event, hooks, payload, templates, bodyBytesMax }: Drafting): WebhookDraft[] {
  return hooks.map((hook) => {
    const { text, problem } = bodyOf(hook, payload, templates);
    const tooLarge = text.length > bodyBytesMax || new TextEncoder().encode(text).length > bodyBytesMax;
    return {
      event,
      url: hook.url,
      method: hook.method,
      headers: headersOf(hook, payload, text),
      body: tooLarge ? "" : text,
      problem: tooLarge ? `the body is larger than ${bodyBytesMax} bytes` : problem,
    };
  });
}

function bodyOf(
  { file, body }: DecodedWebhook,
  payload: WebhookPayload,
  templates: ReadonlyMap<string, string>,
): { text: string; problem: string | undefined } {
  if (file !== undefined) {
    const template = templates.get(file);
    if (template !== undefined) return { text: fillBody(template, payload), problem: undefined };
    return { text: "", problem: `the file "${file}" is not here; apply the asset, or see why it fails` };
  }
  const text = body === undefined ? JSON.stringify(payload) : fillBody(JSON.stringify(body), payload);
  return { text, problem: undefined };
}

/** A template that is JSON stays JSON whatever the values hold; any other is filled as it stands. */
function fillBody(template: string, payload: WebhookPayload): string {
  return isJson(template) ? fill(template, payload, insideJsonString) : fill(template, payload, (value) => value);
}

function headersOf(hook: DecodedWebhook, payload: WebhookPayload, body: string): Record<string, string> {
  const given = Object.entries(hook.headers).map(([name, value]) => [name, fill(value, payload, headerText)]);
  const typed = given.some(([name]) => name?.toLowerCase() === "content-type");
  const type = isJson(body) ? "application/json" : "text/plain; charset=utf-8";
  return { ...(typed ? {} : { "Content-Type": type }), ...Object.fromEntries(given) };
}

const token = /\{\{\s*([a-z_]+)\s*\}\}/g;

function fill(template: string, payload: WebhookPayload, encode: (value: string) => string): string {
  return template.replace(token, (whole, field: string) => {
    const value = own(payload, field);
    return value === undefined ? whole : encode(value);
  });
}

function insideJsonString(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/** A line break in a value must not begin a header of its own; header values are visible ASCII. */
function headerText(value: string): string {
  return value.replace(/[\r\n\t]+/g, " ").replace(/[^\x20-\x7e]/g, "?");
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
