import { isoTime } from "../../base/pure/iso-time.ts";
import { Failure } from "../../base/wire/failure.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { bodyReader } from "../../base/wire/read-body.ts";
import { defaultSettings, type InstanceSettings } from "../api/settings.ts";
import {
  createIdentityInstance,
  type deleteIdentityInstance,
  type getIdentityInstance,
  type IdentityInstance,
  updateIdentityInstance,
} from "../api/manage/instances.ts";
import { hostOk } from "../../base/pure/hosts.ts";
import { type Environment, idBytes, opaqueId, publishableBytes, publishableKey } from "../core/keys.ts";
import { changedSettings } from "../core/setting-rules.ts";
import { instanceUrl } from "../core/urls.ts";
import type { IdentityNouns } from "../store/open-store.ts";
import type { App, Instance } from "../store/records.ts";
import { audit } from "./audit.ts";
import { requireApp } from "./manage/apps.ts";
import { type By, type ManageContext, refuse, requireInstance } from "./manage/context.ts";
import { mintKey } from "./manage/keys.ts";
import type { SigningPairs } from "./signing-pairs.ts";
import { removeInstance } from "./manage/remove-instance.ts";

const readNew = bodyReader(createIdentityInstance);
const readChange = bodyReader(updateIdentityInstance);

/** The tenants of the identity service. */
export interface Instances {
  /** Fails `not_found` for an unknown app. */
  list(app: string | undefined): { instances: IdentityInstance[] };
  get(id: string): DataOf<typeof getIdentityInstance>;
  /** Fails `conflict` where the name or the host is taken. The secret key is in this answer alone. */
  create(body: unknown, by: By): Promise<DataOf<typeof createIdentityInstance>>;
  update(id: string, body: unknown, by: By): Promise<IdentityInstance>;
  /** With everything in it, some users at a time; what a stop of the server leaves is deleted by asking again. */
  remove(id: string, by: By): Promise<DataOf<typeof deleteIdentityInstance>>;
}

export function createInstances(context: ManageContext, pairs: Pick<SigningPairs, "ensure">): Instances {
  const { store, clock } = context;
  /** A key pair takes a moment to make: it is there before the answer says that tokens are signed with it. */
  const prepared = async (written: { id: string; settings: InstanceSettings }) => {
    const instance = store.instances.get(written.id);
    if (instance?.settings.algorithm === "RS256") await pairs.ensure(instance);
  };
  return {
    list(app) {
      const found = store.instances.list(app === undefined ? undefined : requireApp(store, app).id);
      return { instances: found.map((instance) => wireInstance(context, store, instance)) };
    },
    get(id) {
      const instance = requireInstance(context, id);
      return {
        ...wireInstance(context, store, instance),
        effective: { ...defaultSettings, ...instance.settings },
      };
    },
    async create(body, { actor }) {
      const { app, name, environment = "production", host, settings } = readNew(body);
      const made = await store.write((nouns) => {
        const fields = { app: requireApp(nouns, app), name, environment, host, change: settings, actor };
        const { instance, secretKey } = addInstance(context, nouns, fields);
        return { ...wireInstance(context, nouns, instance), secret_key: secretKey };
      });
      await prepared(made);
      return made;
    },
    async update(id, body, { actor }) {
      const change = readChange(body);
      const changed = await store.write((nouns) => {
        const before = requireInstance(context, id);
        const { settings, problems } = changedSettings(before.settings, change.settings ?? {});
        refuse(problems);
        const host = change.host === undefined ? before.host : hostOf(context, nouns, { host: change.host, id });
        const name = change.name === undefined ? before.name : freeName(nouns, { name: change.name, of: before });
        const instance = { ...before, name, host, settings, updatedAt: clock.now() };
        nouns.instances.update(instance);
        const detail = { fields: Object.keys(change), settings: Object.keys(change.settings ?? {}) };
        audit(nouns, { instance, actor, action: "instance.update", detail, now: instance.updatedAt });
        return wireInstance(context, nouns, instance);
      });
      await prepared(changed);
      return changed;
    },
    remove: (id, by) => removeInstance(context, id, by),
  };
}

interface NewInstance {
  app: App;
  /** Without one it is named after its environment. */
  name: string | undefined;
  environment: Environment;
  host: string | null | undefined;
  change: Record<string, unknown> | undefined;
  actor: string;
}

/** Inside a write: the instance with the key that signs its tokens. */
export function addInstance(
  context: ManageContext,
  nouns: IdentityNouns,
  { app, name, environment, host, change, actor }: NewInstance,
): { instance: Instance; secretKey: string } {
  const { limits, randomBytes, clock } = context;
  const most = limits.instancesMax;
  if (nouns.instances.list().length >= most) throw new Failure("conflict", `there are ${most} instances: delete one`);
  // Not the default of the setting: instances of earlier versions stay without a limit. An explicit null does too.
  const first = { max_concurrent_sessions: limits.newInstanceSessionsMax };
  const { settings, problems } = changedSettings(first, change ?? {});
  refuse(problems);
  const id = opaqueId("inst", randomBytes(idBytes));
  const now = clock.now();
  const instance = nouns.instances.add({
    id,
    appId: app.id,
    name: freeName(nouns, { name: name ?? environment, of: { id, appId: app.id } }),
    environment,
    host: hostOf(context, nouns, { host: host ?? null, id }),
    publishableKey: publishableKey(environment, randomBytes(publishableBytes)),
    settings,
    createdAt: now,
    updatedAt: now,
  });
  audit(nouns, { instance, actor, action: "instance.create", detail: { name: instance.name }, now });
  const key = mintKey(context, nouns, { instance, use: "secret", state: "signing", actor });
  return { instance, secretKey: key.value };
}

/** An instance as the operator sees it. */
export function wireInstance(
  { baseUrl }: Pick<ManageContext, "baseUrl">,
  nouns: Pick<IdentityNouns, "apps">,
  instance: Instance,
): IdentityInstance {
  const url = instanceUrl(baseUrl, instance);
  return {
    id: instance.id,
    app_id: instance.appId,
    app: nouns.apps.get(instance.appId)?.name ?? "",
    name: instance.name,
    environment: instance.environment,
    host: instance.host ?? null,
    publishable_key: instance.publishableKey,
    url,
    sign_in_url: `${url}/sign-in`,
    settings: instance.settings,
    created_at: isoTime(instance.createdAt),
    updated_at: isoTime(instance.updatedAt),
  };
}

function freeName(
  nouns: Pick<IdentityNouns, "instances">,
  { name, of }: { name: string; of: Pick<Instance, "id" | "appId"> },
): string {
  if (!/^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/.test(name)) {
    throw new Failure("invalid", "name: use lower-case letters, digits and dashes inside, at most 40");
  }
  const holder = nouns.instances.byName(of.appId, name);
  if (holder === undefined || holder.id === of.id) return name;
  throw new Failure("conflict", `the app has an instance "${name}" (${holder.id}): give another name`);
}

function hostOf(
  { baseUrl }: Pick<ManageContext, "baseUrl">,
  nouns: Pick<IdentityNouns, "instances">,
  { host: text, id }: { host: string | null; id: string },
): string | undefined {
  if (text === null || text === "") return undefined;
  const host = text.toLowerCase();
  if (!hostOk(host) || host.startsWith("*")) {
    throw new Failure("invalid", `host: ${JSON.stringify(text)} is not a host name without port, such as id.shop.com`);
  }
  if (host === new URL(baseUrl).hostname) {
    throw new Failure("conflict", `host "${host}" is that of the service itself: give the instance one of its own`);
  }
  const holder = nouns.instances.byHost(host);
  if (holder === undefined || holder.id === id) return host;
  throw new Failure("conflict", `host "${host}" leads to instance ${holder.id}: change that one first`);
}
