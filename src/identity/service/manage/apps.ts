import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { bodyReader } from "../../../base/wire/read-body.ts";
import { createIdentityApp, type deleteIdentityApp, type IdentityApp } from "../../api/manage/apps.ts";
import { idBytes, opaqueId } from "../../core/keys.ts";
import { replicaId } from "../../../base/pure/replica-id.ts";
import type { IdentityNouns } from "../../store/open-store.ts";
import type { App } from "../../store/records.ts";
import { audit } from "../audit.ts";
import { allInstances, type By, type ManageContext } from "./context.ts";

const readBody = bodyReader(createIdentityApp);

/** The apps whose users are signed in. */
export interface ManagedApps {
  list(): { apps: IdentityApp[] };
  /** Fails `conflict` where the name is taken. */
  create(body: unknown, by: By): Promise<IdentityApp>;
  /** By id or name. Fails `conflict` while it has instances. */
  remove(reference: string, by: By): Promise<DataOf<typeof deleteIdentityApp>>;
}

export function createManagedApps(context: ManageContext): ManagedApps {
  const { store, clock } = context;
  const wire = (app: App, nouns: Pick<IdentityNouns, "instances"> = store): IdentityApp => ({
    id: app.id,
    name: app.name,
    instances: nouns.instances.list(app.id).length,
    created_at: isoTime(app.createdAt),
  });
  return {
    list: () => ({ apps: store.apps.list().map((app) => wire(app)) }),
    async create(body, { actor }) {
      const { name } = readBody(body);
      return store.write((nouns) => wire(addApp(context, nouns, { name, actor }), nouns));
    },
    remove: (reference, { actor }) =>
      store.write((nouns) => {
        const app = requireApp(nouns, reference);
        const count = nouns.instances.list(app.id).length;
        if (count > 0) {
          const what = count === 1 ? "an instance" : `${count} instances`;
          throw new Failure("conflict", `app "${app.name}" has ${what}: delete what it has first`);
        }
        nouns.apps.remove(app.id);
        const detail = { app: app.id, name: app.name };
        audit(nouns, { instance: allInstances, actor, action: "app.delete", detail, now: clock.now() });
        return { id: app.id, deleted: true };
      }),
  };
}

/** Inside a write. Without a name it gets one that no app has. */
export function addApp(
  { limits, randomBytes, clock }: Pick<ManageContext, "limits" | "randomBytes" | "clock">,
  nouns: Pick<IdentityNouns, "apps" | "audit">,
  { name, actor }: { name: string | undefined; actor: string },
): App {
  const most = limits.appsMax;
  if (nouns.apps.list().length >= most) throw new Failure("conflict", `there are ${most} apps: delete one first`);
  const free = () => {
    const made = `app-${replicaId(randomBytes(5))}`;
    return nouns.apps.byName(made) === undefined ? made : undefined;
  };
  const chosen = name === undefined ? (free() ?? free() ?? free()) : shownName(name);
  if (chosen === undefined) throw new Failure("conflict", "no free name was found: give one");
  if (nouns.apps.byName(chosen) !== undefined) {
    throw new Failure("conflict", `there is an app "${chosen}": give another name`);
  }
  const app = { id: opaqueId("app", randomBytes(idBytes)), name: chosen, createdAt: clock.now() };
  nouns.apps.put(app);
  const detail = { app: app.id, name: app.name };
  audit(nouns, { instance: allInstances, actor, action: "app.create", detail, now: app.createdAt });
  return app;
}

/** By id or name. */
export function requireApp(nouns: Pick<IdentityNouns, "apps">, reference: string): App {
  const app = nouns.apps.get(reference) ?? nouns.apps.byName(reference);
  if (app !== undefined) return app;
  throw new Failure("not_found", `no app "${reference.slice(0, 80)}": berth identity app list shows them`);
}

function shownName(name: string): string {
  const trimmed = name.trim().normalize("NFC");
  if (trimmed !== "" && !/\p{C}/u.test(trimmed)) return trimmed;
  throw new Failure("invalid", "name: needs characters that print");
}
