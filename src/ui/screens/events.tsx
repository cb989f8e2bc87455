import { useState } from "preact/hooks";
import { type Activity, listActivity } from "../../observability/api/activity.ts";
import { api, faultText } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { activity } from "../data/model.ts";
import { Page } from "../frame/page.tsx";
import { go, query, withQuery } from "../browser/router.ts";
import { Button } from "../parts/button.tsx";
import { EventList, joined } from "../parts/event-list.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { say } from "../data/notices.ts";

const types: readonly [string, string][] = [
  ["", "everything"],
  ["release", "deploys"],
  ["config", "config"],
  ["pod", "pods"],
  ["job", "jobs"],
  ["pat", "tokens"],
];

/** Everything that happened, newest first; what happens now comes in at the top. */
export function Screen() {
  const app = query.value.get("app") ?? "";
  const type = query.value.get("type") ?? "";
  const asked = { app: app === "" ? undefined : app, type: type === "" ? undefined : type };
  const loaded = useLoad(`${app} ${type}`, (signal) => api.call(listActivity, { query: asked, signal }));
  const fits = (event: Activity) =>
    (app === "" || `${event.scope}/${event.name}`.startsWith(app)) && event.action.startsWith(type);
  return (
    <Page title="Events" command={app === "" ? "berth events" : `berth events ${app}`}>
      <Tabs
        label="What is recorded"
        current="/events"
        tabs={[
          { title: "Events", href: "/events" },
          { title: "Audit", href: "/audit" },
        ]}
      />
      <div class="row">
        <select
          class="input"
          aria-label="Kind of event"
          value={type}
          onChange={(event) => go(withQuery({ type: event.currentTarget.value }))}
        >
          {types.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        <input
          class="input narrow"
          aria-label="App"
          placeholder="scope or scope/name"
          value={app}
          onChange={(event) => go(withQuery({ app: event.currentTarget.value }), { replace: true })}
        />
      </div>
      <Shown of={loaded} label="the events">
        {({ events, next }) => (
          <Pages key={`${app} ${type}`} first={joined(activity.value.filter(fits), events)} next={next} asked={asked} />
        )}
      </Shown>
    </Page>
  );
}

interface PagesProps {
  first: readonly Activity[];
  next: string | undefined;
  asked: { app: string | undefined; type: string | undefined };
}

function Pages({ first, next, asked }: PagesProps) {
  const [older, setOlder] = useState<{ events: readonly Activity[]; next?: string | undefined }>({ events: [], next });
  const more = async () => {
    try {
      const page = await api.call(listActivity, { query: { ...asked, cursor: older.next } });
      setOlder({ events: [...older.events, ...page.events], next: page.next });
    } catch (error) {
      say(faultText(error), "bad");
    }
  };
  return (
    <>
      <EventList events={[...first, ...older.events]} withApp />
      {older.next === undefined ? null : (
        <div class="row">
          <Button onClick={() => void more()}>Older events</Button>
        </div>
      )}
    </>
  );
}
