import type { ComponentType } from "preact";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { getPlaneInstance } from "../../observability/api/identity.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { Page } from "../frame/page.tsx";
import type { ScreenProps } from "../frame/screen.ts";
import { Shown } from "../parts/loaded.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Audit } from "./identity/audit.tsx";
import { Keys } from "./identity/keys.tsx";
import { Look } from "./identity/look.tsx";
import { Sessions } from "./identity/sessions.tsx";
import { Settings } from "./identity/settings.tsx";
import { Users } from "./identity/users.tsx";

interface TabProps {
  instance: DataOf<typeof getPlaneInstance>;
  again: () => void;
}

const tabs: Record<string, { title: string; Body: ComponentType<TabProps>; command: (id: string) => string }> = {
  "": { title: "Users", Body: Users, command: (id) => `berth identity user list --instance ${id}` },
  sessions: { title: "Sessions", Body: Sessions, command: (id) => `berth identity session list --instance ${id}` },
  keys: { title: "Keys", Body: Keys, command: (id) => `berth identity key list --instance ${id}` },
  page: { title: "Sign-in page", Body: Look, command: (id) => `berth identity instance set ${id} title='My shop'` },
  settings: { title: "Settings", Body: Settings, command: (id) => `berth identity instance show ${id}` },
  audit: { title: "Audit", Body: Audit, command: (id) => `berth identity audit --instance ${id}` },
};

/** One instance of the identity service, for the owner of the app. */
export function Screen({ params: { instance: id = "", tab = "" } }: ScreenProps) {
  const loaded = useLoad(`instance ${id}`, (signal) =>
    api.call(getPlaneInstance, { params: { instance: id }, signal }),
  );
  const current = tabs[tab] ?? tabs[""];
  const base = `/identity/${id}`;
  const hrefOf = (key: string) => (key === "" ? base : `${base}/${key}`);
  const { data } = loaded;
  return (
    <Page
      title={data === undefined ? "Identity" : `${data.app}/${data.name}`}
      command={current?.command(id) ?? "berth identity instance list"}
    >
      <Tabs
        label="Of the instance"
        current={hrefOf(tab)}
        tabs={Object.entries(tabs).map(([key, { title }]) => ({ title, href: hrefOf(key) }))}
      />
      <Shown of={loaded} label="the instance">
        {(instance) => (current === undefined ? null : <current.Body instance={instance} again={loaded.again} />)}
      </Shown>
    </Page>
  );
}
