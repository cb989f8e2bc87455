import { previewField } from "../api/kinds/app.ts";
import { type RoutingFields, routingFields } from "../api/kinds/routing.ts";
import type { CoreDraft, DraftManifest } from "./draft.ts";
import { hostsOf } from "../../base/pure/hosts.ts";

/**
 * An `app` becomes a deployment and, with a host or a TCP port, an ingress of the same identity whose service and port are
 * left to their defaults. Other kinds pass through. A condition on the revision stays with the deployment.
 */
export function expandApp(draft: DraftManifest): CoreDraft[] {
  const { kind, scope, name } = draft;
  if (kind !== "app") return [{ ...draft, kind }];
  const routing: Record<string, unknown> = {};
  const running: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(draft.spec)) {
    if (Object.hasOwn(previewField, field)) continue;
    if (isRouting(field)) routing[field] = value;
    else running[field] = value;
  }
  const condition = draft.ifRevision === undefined ? {} : { ifRevision: draft.ifRevision };
  const deployment: CoreDraft = { kind: "deployment", scope, name, spec: running, ...condition };
  if (routing.tcp === undefined && hostsOf(routing).length === 0) return [deployment];
  return [deployment, { kind: "ingress", scope, name, spec: routing }];
}

function isRouting(field: string): field is keyof RoutingFields {
  return Object.hasOwn(routingFields, field);
}
