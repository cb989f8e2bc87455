import { listActivity } from "../../../observability/api/activity.ts";
import type { AppDetail } from "../../../observability/api/apps.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/load.ts";
import { activity } from "../../data/model.ts";
import { EventList, joined } from "../../parts/event-list.tsx";
import { Shown } from "../../parts/loaded.tsx";

export function Events({ app }: { app: AppDetail }) {
  const { scope, name } = app;
  const loaded = useLoad(`${scope}/${name}`, (signal) =>
    api.call(listActivity, { query: { app: `${scope}/${name}`, limit: 200 }, signal }),
  );
  const own = activity.value.filter((event) => event.scope === scope && event.name === name);
  return (
    <Shown of={loaded} label="the events">
      {({ events }) => <EventList events={joined(own, events)} />}
    </Shown>
  );
}
