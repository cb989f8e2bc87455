import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { bodyReader } from "../../../base/wire/read-body.ts";
import {
  type deleteIdentityProvider,
  type IdentityProvider,
  type listIdentityProviders,
  putIdentityProvider,
} from "../../api/manage/providers.ts";
import { defaultSettings } from "../../api/settings.ts";
import { callbackPath } from "../../core/callbacks.ts";
import { changedOptions, kindOfProvider, providerNameProblem, providerProblems } from "../../core/provider-rules.ts";
import { effectiveProvider } from "../../core/providers.ts";
import { isClosedHost } from "../../../base/deliver/address-guard.ts";
import type { IdentityNouns } from "../../store/open-store.ts";
import { globalInstance } from "../../store/providers.ts";
import type { Instance, Provider } from "../../store/records.ts";
import { audit } from "../audit.ts";
import { allInstances, type By, type ManageContext, type Place, placeOf, refuse } from "./context.ts";

const readBody = bodyReader(putIdentityProvider);

/** What instances sign in with. Client secrets come in and never go out. */
export interface ManagedProviders {
  list(place: Place): DataOf<typeof listIdentityProviders>;
  put(name: string, at: { place: Place; body: unknown; by: By }): Promise<IdentityProvider>;
  remove(name: string, at: { place: Place; by: By }): Promise<DataOf<typeof deleteIdentityProvider>>;
}

export function createManagedProviders(context: ManageContext): ManagedProviders {
  const { store, clock } = context;
  return {
    list(place) {
      const instance = placeOf(context, place);
      const global = store.providers.list(globalInstance);
      if (instance === undefined) {
        return { providers: global.map((provider) => wire(context, provider, undefined)), offered: [] };
      }
      const own = store.providers.list(instance.seq);
      const borrowed = global.filter(({ name }) => !own.some((one) => one.name === name));
      return {
        providers: [
          ...own.map((provider) => wire(context, provider, instance)),
          ...borrowed.map((provider) => wire(context, provider, undefined)),
        ],
        offered: offeredBy(store, instance),
      };
    },
    async put(name, { place, body, by }) {
      const problem = providerNameProblem(name);
      if (problem !== undefined) throw new Failure("invalid", `provider name: ${problem}`);
      const change = readBody(body);
      return store.write((nouns) => putProvider(context, nouns, { name, place, change, actor: by.actor }));
    },
    remove: (name, { place, by: { actor } }) =>
      store.write((nouns) => {
        const instance = placeOf(context, place);
        if (!nouns.providers.remove(instance?.seq ?? globalInstance, name)) {
          throw new Failure("not_found", `nothing is set for provider "${name.slice(0, 80)}"`);
        }
        const detail = { provider: name };
        const at = instance ?? allInstances;
        audit(nouns, { instance: at, actor, action: "provider.delete", provider: name, detail, now: clock.now() });
        return { name, deleted: true as const };
      }),
  };
}

interface Putting {
  name: string;
  place: Place;
  change: ReturnType<typeof readBody>;
  actor: string;
}

function putProvider(
  context: ManageContext,
  nouns: IdentityNouns,
  { name, place, change, actor }: Putting,
): IdentityProvider {
  const { clock, limits, allowPrivate } = context;
  const instance = placeOf(context, place);
  const seq = instance?.seq ?? globalInstance;
  const before = nouns.providers.get(seq, name);
  if (before === undefined && nouns.providers.list(seq).length >= limits.providersMax) {
    throw new Failure("conflict", `there are ${limits.providersMax} providers: delete one first`);
  }
  const kind = kindOfProvider(name);
  if (change.kind !== undefined && change.kind !== kind) {
    throw new Failure("invalid", `kind: a provider named "${name}" is of kind ${kind}: name it otherwise`);
  }
  const { options, problems } = changedOptions(before?.options ?? {}, change.options ?? {});
  refuse(problems);
  const now = clock.now();
  const provider: Provider = {
    instance: seq,
    name,
    kind,
    enabled: change.enabled ?? before?.enabled ?? true,
    clientId: change.client_id ?? before?.clientId,
    clientSecret: change.client_secret ?? before?.clientSecret,
    options,
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  };
  refuse(providerProblems(provider, { allowPrivate, closedHost: isClosedHost }));
  nouns.providers.put(provider);
  // Names of what changed; never a value.
  const detail = { fields: Object.keys(change), options: Object.keys(change.options ?? {}) };
  audit(nouns, { instance: instance ?? allInstances, actor, action: "provider.set", provider: name, detail, now });
  return wire(context, provider, instance);
}

/** What the sign-in page of an instance offers, in alphabetical order, the password last. */
function offeredBy(nouns: Pick<IdentityNouns, "providers">, instance: Instance): string[] {
  const own = nouns.providers.list(instance.seq);
  const global = nouns.providers.list(globalInstance);
  const names = [...new Set([...own, ...global].map(({ name }) => name))].sort();
  const find = (list: readonly Provider[], name: string) => list.find((one) => one.name === name);
  const usable = names.filter((name) => effectiveProvider(find(own, name), find(global, name)) !== undefined);
  const { email_signin, password_signin } = { ...defaultSettings, ...instance.settings };
  return [...usable, ...(email_signin && password_signin ? ["password"] : [])];
}

function wire({ baseUrl }: ManageContext, provider: Provider, instance: Instance | undefined): IdentityProvider {
  const { name, kind, enabled, clientId, clientSecret, options, createdAt, updatedAt } = provider;
  return {
    name,
    kind,
    instance: instance?.id ?? null,
    enabled,
    client_id: clientId,
    has_secret: clientSecret !== undefined,
    options,
    callback_url: `${baseUrl}${callbackPath({ kind, name, instanceId: instance?.id })}`,
    created_at: isoTime(createdAt),
    updated_at: isoTime(updatedAt),
  };
}
