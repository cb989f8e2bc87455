import { acknowledgeAlert, type Alert, listAlerts } from "../../../observability/api/alerts.ts";
import { addSilence, deleteSilence, listSilences, type Silence } from "../../../observability/api/alert-silences.ts";
import { api } from "../../data/api.ts";
import { type Loaded, useLoad } from "../../data/load.ts";
import { problems } from "../../data/model.ts";
import { lacks } from "../../data/session.ts";
import { appPath } from "../../browser/paths.ts";
import { Button } from "../../parts/button.tsx";
import { ask } from "../../parts/dialog.tsx";
import { Shown } from "../../parts/loaded.tsx";
import { Empty, Note } from "../../parts/notes.tsx";
import { State } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { alertTone } from "../../text/alerts.ts";

/** What fires now, with its why, and what can be done about it. */
export function Firing() {
  // What needs attention changes with the same things that alerts are made of.
  const version = JSON.stringify(problems.value.map(({ id }) => id));
  const loaded = useLoad("alerts", (signal) => api.call(listAlerts, { signal }), version);
  return (
    <>
      <Shown of={loaded} label="the alerts">
        {({ alerts, blind }) => (
          <>
            {blind.map(({ rule, problem }) => (
              <Note key={rule} tone="warn">{`The rule ${rule} cannot be evaluated now: ${problem}`}</Note>
            ))}
            {alerts.length === 0 ? (
              <Empty title="Nothing fires">
                <p>
                  {"The rules are on from the first start. Messages go to the "}
                  <a href="/alerts/channels">channels</a>
                  {"; without a channel none goes out:"}
                </p>
                <code>berth alerts channels add phone ntfy https://ntfy.sh/YOUR-TOPIC</code>
              </Empty>
            ) : (
              alerts.map((alert) => <Card key={alert.id} alert={alert} again={loaded.again} />)
            )}
          </>
        )}
      </Shown>
      <Silences again={loaded} />
    </>
  );
}

function Card({ alert, again }: { alert: Alert; again: () => void }) {
  const { labels, why } = alert;
  const app =
    labels.scope !== undefined && labels.name !== undefined ? { scope: labels.scope, name: labels.name } : undefined;
  return (
    <section class="card inset section" aria-label={alert.title}>
      <header>
        <h2>
          <State tone={alertTone(alert)} text={alert.state === "pending" ? "pending" : alert.severity} /> {alert.title}
        </h2>
        <span class="row">
          {app === undefined ? null : (
            <a class="button" href={appPath(app)}>
              {`${app.scope}/${app.name}`}
            </a>
          )}
          {alert.acknowledged === undefined ? (
            <Button hindrance={lacks("actions")} onClick={() => askAck(alert, again)}>
              I work on it
            </Button>
          ) : null}
          <Button hindrance={lacks("actions")} onClick={() => askSilence(alert, again)}>
            Silence…
          </Button>
        </span>
      </header>
      <p>{alert.detail}</p>
      <p class="small soft">
        {`rule ${alert.rule}, since `}
        <Ago at={alert.since} />
        {alert.acknowledged === undefined ? "" : `, ${alert.acknowledged.by} works on it`}
        {alert.acknowledged?.note === undefined ? "" : `: ${alert.acknowledged.note}`}
        {alert.silenced_by === undefined ? "" : ", silenced"}
        {alert.flapping ? ", comes and goes" : ""}
      </p>
      {why === undefined ? null : <Why why={why} />}
    </section>
  );
}

function Why({ why: { changes, lines, next } }: { why: NonNullable<Alert["why"]> }) {
  return (
    <>
      {changes.length === 0 ? null : (
        <>
          <p class="small soft">What changed before</p>
          <ul>
            {changes.map((change) => (
              <li key={change}>{change}</li>
            ))}
          </ul>
        </>
      )}
      {lines.length === 0 ? null : (
        <>
          <p class="small soft">Last lines</p>
          <pre class="scroll small" tabIndex={0}>
            {lines.join("\n")}
          </pre>
        </>
      )}
      {next.length === 0 ? null : (
        <p class="row small">
          {next.map((command) => (
            <code key={command}>{command}</code>
          ))}
        </p>
      )}
    </>
  );
}

function askAck(alert: Alert, again: () => void): void {
  ask({
    title: "Say that you work on it",
    verb: "I work on it",
    command: `berth alerts ack ${alert.id}`,
    effects: [{ text: "No more reminders of this alert go out" }, { text: "When it is over, a message still says so" }],
    run: async () => {
      await api.call(acknowledgeAlert, { params: { id: alert.id }, body: {} });
      again();
    },
  });
}

const silenceTimes = ["1h", "2h", "8h", "24h", "168h"];

/** The app of the alert and its rule, for a time that the viewer chooses. */
function askSilence(alert: Alert, again: () => void): void {
  const { scope, name } = alert.labels;
  const app = scope === undefined || name === undefined ? undefined : `${scope}/${name}`;
  let time = "2h";
  let reason = "";
  ask({
    title: `Silence ${alert.rule}${app === undefined ? "" : ` of ${app}`}`,
    verb: "Silence",
    command: `berth alerts silence ${app === undefined ? "" : `${app} `}--for ${time} --rule ${alert.rule}`,
    effects: [
      { text: "No message about it goes out for this time", ends: true },
      { text: "If it still fires then, a message goes out" },
      { text: "It stays on this page, marked as silenced" },
    ],
    body: () => (
      <>
        <div class="field">
          <label for="silence-for">How long</label>
          <select id="silence-for" class="input" onChange={(event) => (time = event.currentTarget.value)}>
            {silenceTimes.map((one) => (
              <option key={one} value={one} selected={one === time}>
                {one}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for="silence-why">Why; others see it</label>
          <input
            id="silence-why"
            class="input"
            autocomplete="off"
            onInput={(event) => (reason = event.currentTarget.value)}
          />
        </div>
      </>
    ),
    run: async () => {
      const matcher = { rule: alert.rule, ...(app === undefined ? {} : { app }) };
      await api.call(addSilence, { body: { matcher, for: time, reason: reason === "" ? undefined : reason } });
      again();
    },
  });
}

/** Silences that hold; `again` loads the alerts, and is asked again with each change of theirs. */
function Silences({ again: alerts }: { again: Loaded<unknown> }) {
  const loaded = useLoad("silences", (signal) => api.call(listSilences, { signal }), String(alerts.at ?? 0));
  const silences = loaded.data?.silences ?? [];
  if (silences.length === 0) return null;
  const end = (silence: Silence) =>
    ask({
      title: "End this silence",
      verb: "End it",
      command: `berth alerts unsilence ${silence.id}`,
      effects: [{ text: "Messages about what fires go out again" }],
      run: async () => {
        await api.call(deleteSilence, { params: { id: silence.id } });
        alerts.again();
        loaded.again();
      },
    });
  return (
    <section class="section">
      <h2>Silences</h2>
      <Table
        label="Silences"
        rows={silences}
        keyOf={({ id }) => id}
        columns={[
          { title: "Of", cell: ({ matcher }) => Object.values(matcher).join(", ") || "everything" },
          { title: "Until", cell: ({ until }) => <Ago at={until} /> },
          { title: "By", cell: ({ by }) => by },
          { title: "Why", cell: ({ reason }) => reason ?? "–" },
          {
            title: "",
            right: true,
            cell: (silence) => (
              <Button look="bare" hindrance={lacks("actions")} onClick={() => end(silence)}>
                End
              </Button>
            ),
          },
        ]}
      />
    </section>
  );
}
