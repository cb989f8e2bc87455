import {
  type Channel,
  deleteChannel,
  listAlertDeliveries,
  listChannels,
  testChannel,
} from "../../../observability/api/alert-channels.ts";
import { getHeartbeat, type Heartbeat } from "../../../observability/api/alert-heartbeat.ts";
import { api, faultText } from "../../data/api.ts";
import { useLoad } from "../../data/load.ts";
import { lacks } from "../../data/session.ts";
import { Button } from "../../parts/button.tsx";
import { ask } from "../../parts/dialog.tsx";
import { Shown } from "../../parts/loaded.tsx";
import { Empty } from "../../parts/notes.tsx";
import { askChannel, askHeartbeat } from "./channel-form.tsx";
import { State } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { say } from "../../data/notices.ts";
import { deliveryTone, heartbeatTone } from "../../text/alerts.ts";

/** Where messages go, what became of the last ones, and the heartbeat. */
export function Channels() {
  const loaded = useLoad("channels", (signal) => api.call(listChannels, { signal }));
  return (
    <>
      <div class="row">
        <Button hindrance={lacks("admin")} onClick={() => askChannel(loaded.again)}>
          Add a channel…
        </Button>
      </div>
      <Shown of={loaded} label="the channels">
        {({ channels }) =>
          channels.length === 0 ? (
            <Empty title="No channel: no message goes out when something fires">
              <p>An alert on your phone takes the app of ntfy and a topic of your own. Or on the command line:</p>
              <code>berth alerts channels add phone ntfy https://ntfy.sh/YOUR-TOPIC</code>
            </Empty>
          ) : (
            <ChannelTable channels={channels} again={loaded.again} />
          )
        }
      </Shown>
      <DeadMansSwitch />
      <Messages version={String(loaded.at ?? 0)} />
    </>
  );
}

function ChannelTable({ channels, again }: { channels: readonly Channel[]; again: () => void }) {
  return (
    <Table
      label="Channels"
      rows={channels}
      keyOf={({ name }) => name}
      columns={[
        { title: "Channel", cell: ({ name }) => name },
        { title: "Leads to", cell: ({ type, target }) => `${type}: ${target}` },
        { title: "From severity", cell: ({ min_severity: from }) => from },
        { title: "Apps", cell: ({ apps }) => apps.join(", ") || "all" },
        {
          title: "Last message",
          cell: ({ last }) =>
            last === undefined ? (
              <span class="faint">none yet</span>
            ) : (
              <span title={last.result}>
                <State tone={deliveryTone(last.status)} text={last.status} /> <Ago at={last.at} />
              </span>
            ),
        },
        { title: "", right: true, cell: (channel) => <ChannelButtons channel={channel} again={again} /> },
      ]}
    />
  );
}

function ChannelButtons({ channel: { name }, again }: { channel: Channel; again: () => void }) {
  const test = () =>
    api
      .call(testChannel, { params: { name } })
      .then(({ status, result }) =>
        say(
          `Test of ${name}: ${status}${result === undefined ? "" : `, ${result}`}`,
          deliveryTone(status) === "bad" ? "bad" : undefined,
        ),
      )
      .catch((error: unknown) => say(faultText(error), "bad"))
      .finally(again);
  const remove = () =>
    ask({
      title: `Remove the channel ${name}`,
      verb: "Remove",
      danger: true,
      command: `berth alerts channels remove ${name}`,
      effects: [{ text: "No more messages go there, also those that wait", ends: true }],
      run: async () => {
        await api.call(deleteChannel, { params: { name } });
        again();
      },
    });
  return (
    <span class="row end">
      <Button look="bare" hindrance={lacks("actions")} onClick={() => void test()}>
        Test
      </Button>
      <Button look="bare" hindrance={lacks("admin")} onClick={remove}>
        Remove…
      </Button>
    </span>
  );
}

function DeadMansSwitch() {
  const loaded = useLoad("heartbeat", (signal) => api.call(getHeartbeat, { signal }));
  return (
    <section class="section">
      <header>
        <h2>Dead man's switch</h2>
        <Button hindrance={lacks("admin")} onClick={() => askHeartbeat(loaded.again)}>
          Set the address…
        </Button>
      </header>
      <Shown of={loaded} label="the heartbeat">
        {(heartbeat) => <Pings heartbeat={heartbeat} />}
      </Shown>
    </section>
  );
}

function Pings({ heartbeat: { enabled, target, every, state, last_ok_at: last, result } }: { heartbeat: Heartbeat }) {
  if (!enabled) {
    return (
      <Empty title="When this whole machine is gone, nothing here can say so">
        <p>Let another service notice, one that alerts when no ping comes:</p>
        <code>berth alerts heartbeat set https://hc-ping.com/YOUR-ID</code>
      </Empty>
    );
  }
  return (
    <p>
      <State tone={heartbeatTone(state)} text={state} title={result} />
      {` ${target ?? ""} every ${every ?? "5m"}, last answered `}
      <Ago at={last} />
    </p>
  );
}

const messagesMax = 50;

function Messages({ version }: { version: string }) {
  const loaded = useLoad(
    "deliveries",
    (signal) => api.call(listAlertDeliveries, { query: { limit: messagesMax }, signal }),
    version,
  );
  const deliveries = loaded.data?.deliveries ?? [];
  if (deliveries.length === 0) return null;
  return (
    <section class="section">
      <h2>Messages</h2>
      <Table
        label="Messages"
        rows={deliveries}
        keyOf={({ id }) => id}
        columns={[
          {
            title: "State",
            cell: ({ status, result }) => <State tone={deliveryTone(status)} text={status} title={result} />,
          },
          { title: "Message", cell: ({ title }) => title },
          { title: "Channel", cell: ({ channel }) => channel },
          { title: "Made", cell: ({ created_at: at }) => <Ago at={at} /> },
          {
            title: "Why",
            cell: ({ status, result }) =>
              status === "delivered" || result === undefined ? <span class="faint">–</span> : result,
          },
          { title: "Attempts", right: true, cell: ({ attempts }) => attempts },
        ]}
      />
    </section>
  );
}
