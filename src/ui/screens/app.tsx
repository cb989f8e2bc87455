import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { type AppDetail, getApp } from "../../observability/api/apps.ts";
import { listJobs } from "../../observability/api/jobs.ts";
import { api } from "../data/api.ts";
import { type Loaded, useLoad } from "../data/load.ts";
import { appOf, tickedAt } from "../data/model.ts";
import { Page } from "../frame/page.tsx";
import { appPath } from "../browser/paths.ts";
import { go, query } from "../browser/router.ts";
import type { ScreenProps } from "../frame/screen.ts";
import { Shown } from "../parts/loaded.tsx";
import { offered } from "../parts/palette.tsx";
import { State } from "../parts/state.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { appTones } from "../text/states.ts";
import { About } from "./app/about.tsx";
import { AppActions, appEntries } from "./app/buttons.tsx";
import { Config } from "./app/config.tsx";
import { Deploys } from "./app/deploys.tsx";
import { Why } from "./app/why.tsx";
import { Events, History } from "./app/events.tsx";
import { Files } from "./app/files.tsx";
import { Logs } from "./app/logs.tsx";
import { Metrics } from "./app/metrics.tsx";
import { Terminal } from "./app/terminal.tsx";

/** What each tab shows, and the command that tells the same. */
const tabs: Record<
  string,
  { title: string; Body: ComponentType<{ app: AppDetail; again: () => void }>; command: (name: string) => string }
> = {
  "": { title: "Now", Body: About, command: (name) => `berth describe ${name}` },
  why: { title: "Why", Body: Why, command: (name) => `berth why ${name} --timeline` },
  logs: { title: "Logs", Body: Logs, command: (name) => `berth logs ${name} -f` },
  deploys: { title: "Deploys", Body: Deploys, command: (name) => `berth releases ${name}` },
  metrics: { title: "Metrics", Body: Metrics, command: (name) => `berth stats ${name}` },
  config: { title: "Config", Body: Config, command: (name) => `berth config list ${name}` },
  terminal: { title: "Terminal", Body: Terminal, command: (name) => `berth exec ${name}` },
  files: { title: "Files", Body: Files, command: (name) => `berth cp ${name}:/path .` },
  history: { title: "History", Body: History, command: (name) => `berth history ${name}` },
  events: { title: "Events", Body: Events, command: (name) => `berth events ${name}` },
};

async function jobNamed(scope: string, name: string) {
  const { jobs } = await api.call(listJobs, { query: { scope } }).catch(() => ({ jobs: [] }));
  return jobs.find((job) => job.name === name);
}

export function Screen({ params }: ScreenProps) {
  const { scope = "", name = "", tab = "" } = params;
  const kind = query.value.get("kind") ?? undefined;
  const live = appOf(scope, name);
  // What the detail tells beyond the live app changes with one of these.
  const version =
    live === undefined
      ? ""
      : JSON.stringify([
          live.state,
          live.ready,
          live.desired,
          live.release,
          live.restarts,
          live.summary,
          live.revision,
        ]);
  const loaded: Loaded<AppDetail> = useLoad(
    `${scope}/${name}/${kind ?? ""}`,
    (signal) => api.call(getApp, { params: { scope, name }, query: { kind }, signal }),
    version,
  );
  const detail = loaded.data;
  // The steps of a canary and its figures go on by time.
  useEffect(() => {
    if (detail?.canary !== undefined) loaded.again();
  }, [tickedAt.value]);
  const isMissing = detail === undefined && loaded.fault !== undefined;
  useEffect(() => {
    // Alerts, builds and volumes name a job without its kind.
    if (isMissing) void jobNamed(scope, name).then((job) => job && go(appPath(job), { replace: true }));
  }, [isMissing, scope, name]);
  useEffect(() => {
    if (detail !== undefined) offered.value = appEntries(live === undefined ? detail : { ...detail, ...live });
    return () => {
      offered.value = [];
    };
  }, [detail, live]);
  const current = tabs[tab] ?? tabs[""];
  const state = live?.state ?? loaded.data?.state;
  return (
    <Page
      title={`${scope}/${name}`}
      beside={state === undefined ? undefined : <State tone={appTones[state]} text={state} />}
      actions={loaded.data === undefined ? undefined : <AppActions app={loaded.data} />}
      command={current?.command(`${scope}/${name}`) ?? ""}
    >
      <Tabs
        label="Of this app"
        current={appPath({ scope, name }, tab)}
        tabs={Object.entries(tabs).map(([key, { title }]) => ({ title, href: appPath({ scope, name }, key) }))}
      />
      <Shown of={loaded} label={`${scope}/${name}`}>
        {(app) =>
          current === undefined ? null : (
            <current.Body app={live === undefined ? app : { ...app, ...live }} again={loaded.again} />
          )
        }
      </Shown>
    </Page>
  );
}
