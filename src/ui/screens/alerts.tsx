import type { ComponentType } from "preact";
import { Page } from "../frame/page.tsx";
import type { ScreenProps } from "../frame/screen.ts";
import { Tabs } from "../parts/tabs.tsx";
import { Channels } from "./alerts/channels.tsx";
import { Firing } from "./alerts/firing.tsx";
import { Incidents } from "./alerts/incidents.tsx";
import { History } from "./alerts/history.tsx";
import { Rules } from "./alerts/rules.tsx";

const tabs: Record<string, { title: string; Body: ComponentType; command: string }> = {
  "": { title: "Now", Body: Firing, command: "berth alerts list" },
  incidents: { title: "Incidents", Body: Incidents, command: "berth incidents" },
  history: { title: "History", Body: History, command: "berth alerts history" },
  rules: { title: "Rules", Body: Rules, command: "berth alerts rules list" },
  channels: { title: "Channels", Body: Channels, command: "berth alerts channels list" },
};

const pathOf = (tab: string) => (tab === "" ? "/alerts" : `/alerts/${tab}`);

export function Screen({ params: { tab = "" } }: ScreenProps) {
  const current = tabs[tab] ?? tabs[""];
  return (
    <Page title="Alerts" command={current?.command ?? "berth alerts"}>
      <Tabs
        label="Of the alerts"
        current={pathOf(tab)}
        tabs={Object.entries(tabs).map(([key, { title }]) => ({ title, href: pathOf(key) }))}
      />
      {current === undefined ? null : <current.Body />}
    </Page>
  );
}
