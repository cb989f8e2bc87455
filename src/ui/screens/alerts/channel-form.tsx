import { useState } from "preact/hooks";
import { type Channel, putChannel, testChannel } from "../../../observability/api/alert-channels.ts";
import { putHeartbeat } from "../../../observability/api/alert-heartbeat.ts";
import { api } from "../../data/api.ts";
import { type Action, ask } from "../../parts/dialog.tsx";
import { channelFields, channelTarget } from "../../text/alerts.ts";

type ChannelType = keyof typeof channelFields;

interface Typed {
  name: string;
  type: ChannelType;
  severity: Channel["min_severity"];
  fields: Record<string, string>;
}

/** Asks where messages go, stores it, and shows what became of a first message. */
export function askChannel(again: () => void): void {
  const typed: Typed = { name: "", type: "ntfy", severity: "warning", fields: {} };
  ask({
    title: "Add a channel",
    verb: "Add and test",
    command: "berth alerts channels add NAME TYPE WHERE",
    effects: [{ text: "It is stored, and a test message goes out at once" }],
    body: () => <Fields typed={typed} />,
    run: async () => {
      const { name, type, severity, fields } = typed;
      const params = { name };
      await api.call(putChannel, { params, body: { target: channelTarget(type, fields), min_severity: severity } });
      again();
      return tested(name, await api.call(testChannel, { params }));
    },
  });
}

/** Asks for the address of a dead man's switch. */
export function askHeartbeat(again: () => void): void {
  let url = "";
  ask({
    title: "Ping another service",
    verb: "Set",
    command: "berth alerts heartbeat set URL",
    effects: [{ text: "The server pings the address every 5 minutes; that service alerts when no ping comes" }],
    body: () => (
      <div class="field">
        <label for="heartbeat-url">Address</label>
        <input
          id="heartbeat-url"
          class="input"
          autocomplete="off"
          placeholder="https://hc-ping.com/YOUR-ID"
          onInput={(event) => (url = event.currentTarget.value)}
        />
      </div>
    ),
    run: async () => {
      await api.call(putHeartbeat, { body: { url } });
      again();
    },
  });
}

function tested(name: string, { status, result }: { status: string; result?: string }): Action {
  const text = status === "delivered" ? "The test message was taken" : `The test message is ${status}`;
  return {
    title: `The channel ${name} is stored`,
    effects: [{ text: result === undefined ? text : `${text}: ${result}`, ends: status !== "delivered" }],
  };
}

function Fields({ typed }: { typed: Typed }) {
  const [type, setType] = useState(typed.type);
  return (
    <>
      <div class="field">
        <label for="channel-name">Name</label>
        <input
          id="channel-name"
          class="input"
          autocomplete="off"
          placeholder="phone"
          onInput={(event) => (typed.name = event.currentTarget.value)}
        />
      </div>
      <div class="field">
        <label for="channel-type">Type</label>
        <select
          id="channel-type"
          class="input"
          value={type}
          onChange={(event) => {
            typed.type = event.currentTarget.value as ChannelType;
            typed.fields = {};
            setType(typed.type);
          }}
        >
          {Object.keys(channelFields).map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </div>
      {channelFields[type].map(([name, label, example]) => (
        <div key={`${type} ${name}`} class="field">
          <label for={`channel-${name}`}>{label}</label>
          <input
            id={`channel-${name}`}
            class="input"
            autocomplete="off"
            placeholder={example}
            onInput={(event) => (typed.fields[name] = event.currentTarget.value)}
          />
        </div>
      ))}
      <div class="field">
        <label for="channel-severity">Alerts from this severity on</label>
        <select
          id="channel-severity"
          class="input"
          defaultValue={typed.severity}
          onChange={(event) => (typed.severity = event.currentTarget.value as Typed["severity"])}
        >
          {["critical", "warning", "info"].map((one) => (
            <option key={one} value={one} selected={one === typed.severity}>
              {one}
            </option>
          ))}
        </select>
      </div>
    </>
  );
}
