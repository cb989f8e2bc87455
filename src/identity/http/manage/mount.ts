import type { Management } from "../../service/manage/manage.ts";
import { mountIdentityWebhooks } from "./webhooks.ts";
import { mountIdentityMails } from "./mails.ts";
import { mountIdentitySessions } from "./sessions.ts";
import { mountIdentityUsers } from "./users.ts";
import { mount, mountStream, type Plane } from "../../../base/http/mount.ts";
import { createIdentityApp, deleteIdentityApp, listIdentityApps } from "../../api/manage/apps.ts";
import { readCount, readParam } from "../../../base/http/request.ts";
import { listIdentityAudit } from "../../api/manage/audit.ts";
import { readFlag } from "../../../base/wire/query.ts";
import { deleteIdentityProvider, listIdentityProviders, putIdentityProvider } from "../../api/manage/providers.ts";
import type { Place } from "../../service/manage/context.ts";
import { pulled } from "../../../base/http/pulled.ts";
import { exportIdentityUsers, importIdentityUsers } from "../../api/manage/import.ts";
import {
  createIdentityInstance,
  deleteIdentityInstance,
  getIdentityInstance,
  identityQuickstart,
  listIdentityInstances,
  updateIdentityInstance,
} from "../../api/manage/instances.ts";
import {
  createIdentityKey,
  deleteIdentityKey,
  listIdentityKeys,
  promoteIdentityKey,
  rotateIdentityKey,
} from "../../api/manage/keys.ts";
import { randomBytes } from "node:crypto";
import { previewIdentityPage } from "../../api/manage/preview.ts";
import { sayFor } from "../pages/frame.ts";
import { signInPage, signUpPage } from "../pages/sign-in.ts";

const pageDefault = 50;

function mountIdentityAudit(plane: Plane, { audit }: Management, options: { pageMax: number }): void {
  mount(plane, listIdentityAudit, ({ query: { instance, global, query, strict, limit, cursor } }) => {
    const page = { limit: readCount("limit", limit, options.pageMax) ?? pageDefault, cursor };
    return audit.list(
      { instance, global: readFlag(global, false) },
      { query, strict: readFlag(strict, true), ...page },
    );
  });
}

/** How the operator manages the identity service. */
export function mountIdentity(plane: Plane, manage: Management, options: { pageMax: number }): void {
  mountIdentityApps(plane, manage);
  mountIdentityInstances(plane, manage);
  mountIdentityPreview(plane, manage);
  mountIdentityKeys(plane, manage);
  mountIdentityProviders(plane, manage);
  mountIdentityUsers(plane, manage, options);
  mountIdentitySessions(plane, manage, options);
  mountIdentityMails(plane, manage, options);
  mountIdentityWebhooks(plane, manage, options);
  mountIdentityAudit(plane, manage, options);
  mountIdentityImport(plane, manage);
}

function mountIdentityApps(plane: Plane, { apps }: Management): void {
  mount(plane, listIdentityApps, () => apps.list());
  mount(plane, createIdentityApp, ({ body, actor }) => apps.create(body, { actor }));
  mount(plane, deleteIdentityApp, ({ params, actor }) => apps.remove(readParam(params, "app"), { actor }));
}

function mountIdentityProviders(plane: Plane, { providers }: Management): void {
  mount(plane, listIdentityProviders, ({ query }) => providers.list(placeOf(query)));
  mount(plane, putIdentityProvider, ({ params, query, body, actor }) =>
    providers.put(readParam(params, "name"), { place: placeOf(query), body, by: { actor } }),
  );
  mount(plane, deleteIdentityProvider, ({ params, query, actor }) =>
    providers.remove(readParam(params, "name"), { place: placeOf(query), by: { actor } }),
  );
}

function placeOf({ instance, global }: { instance?: string; global?: string }): Place {
  return { instance, global: readFlag(global, false) };
}

function mountIdentityImport(plane: Plane, { transfer }: Management): void {
  mount(plane, importIdentityUsers, ({ query: { instance, update }, body, actor }) =>
    transfer.import(instance, {
      text: String(body),
      update: readFlag(update, false),
      actor,
    }),
  );
  mountStream(plane, exportIdentityUsers, async ({ query: { instance, secrets }, actor }, { signal }) => {
    const lines = await transfer.export(instance, { secrets: readFlag(secrets, false), actor, signal });
    return new Response(pulled(lines), {
      headers: { "Content-Type": exportIdentityUsers.stream ?? "", "Cache-Control": "no-store" },
    });
  });
}

function mountIdentityInstances(plane: Plane, { instances, quickstart }: Management): void {
  mount(plane, identityQuickstart, ({ body, actor }) => quickstart(body, { actor }));
  mount(plane, listIdentityInstances, ({ query: { app } }) => instances.list(app));
  mount(plane, createIdentityInstance, ({ body, actor }) => instances.create(body, { actor }));
  mount(plane, getIdentityInstance, ({ params }) => instances.get(readParam(params, "instance")));
  mount(plane, updateIdentityInstance, ({ params, body, actor }) =>
    instances.update(readParam(params, "instance"), body, { actor }),
  );
  mount(plane, deleteIdentityInstance, ({ params, actor }) =>
    instances.remove(readParam(params, "instance"), { actor }),
  );
}

function mountIdentityKeys(plane: Plane, { keys }: Management): void {
  mount(plane, listIdentityKeys, ({ params }) => keys.list(readParam(params, "instance")));
  mount(plane, createIdentityKey, {
    answer: ({ params, actor }) => keys.create(readParam(params, "instance"), { actor }),
    headers: () => ({ "Cache-Control": "no-store" }),
  });
  mount(plane, rotateIdentityKey, ({ params, body, actor }) =>
    keys.rotate(readParam(params, "instance"), body, { actor }),
  );
  mount(plane, promoteIdentityKey, ({ params, body, actor }) =>
    keys.promote(readParam(params, "instance"), body, { actor }),
  );
  mount(plane, deleteIdentityKey, ({ params, actor }) =>
    keys.remove(readParam(params, "instance"), readParam(params, "key"), { actor }),
  );
}

function mountIdentityPreview(plane: Plane, { previews }: Management): void {
  mountStream(plane, previewIdentityPage, async ({ params, query }) => {
    const preview = previews.of(readParam(params, "instance"), query);
    const { state, face, offer, lengthMin } = preview;
    const nonce = randomBytes(16).toString("base64url");
    const problem = state === "wrong" ? sayFor(face)("error_credentials") : undefined;
    const view = {
      ...{ face, nonce, offer, problem, prefix: "", redirectUri: "" },
      ...{ seal: { token: "", at: 0 }, email: state === "wrong" ? "ana@example.com" : "" },
    };
    const html = state === "sign-up" ? signUpPage({ ...view, name: "", lengthMin }) : signInPage(view);
    return new Response(html, { headers: headersOf(nonce, face.logoUrl) });
  });
}

/** For a frame of the web UI: nothing runs, nothing is sent, and only the logo is loaded. */
function headersOf(nonce: string, logoUrl: string): Record<string, string> {
  const image = URL.canParse(logoUrl) ? ` ${new URL(logoUrl).origin}` : "";
  const policy = [
    "sandbox",
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    ...(image === "" ? [] : [`img-src${image}`]),
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ];
  return {
    "Content-Type": previewIdentityPage.stream ?? "",
    "Content-Security-Policy": policy.join("; "),
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  };
}
