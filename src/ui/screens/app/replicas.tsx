import type { Replica } from "../../../observability/api/app-model.ts";
import type { AppDetail } from "../../../observability/api/apps.ts";
import { lacks } from "../../data/session.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/notes.tsx";
import { State } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { bytesText, percentText, readyOf } from "../../text/figures.ts";
import { replicaTones } from "../../text/states.ts";
import { askScale } from "./actions.tsx";
import { localTimes } from "../../text/times.ts";

export function Replicas({ app }: { app: AppDetail }) {
  return (
    <section class="section">
      <header>
        <h2>{`Replicas: ${readyOf(app)} ready`}</h2>
        <Steps app={app} />
      </header>
      {app.replicas.length === 0 ? (
        <Empty title="No replica runs">
          <p>{app.summary}</p>
        </Empty>
      ) : (
        <Table
          label="Replicas"
          rows={app.replicas}
          keyOf={({ pod }) => pod}
          columns={[
            { title: "State", cell: ({ state }) => <State tone={replicaTones[state]} text={state} /> },
            { title: "Replica", cell: ({ pod, replica_id: id }) => <code title={pod}>{id}</code> },
            { title: "Why", cell: whyOf },
            {
              title: "CPU",
              right: true,
              cell: ({ usage }) => (usage === undefined ? "–" : percentText(usage.cpu_percent)),
            },
            { title: "Memory", right: true, cell: memoryOf },
            {
              title: "Restarts",
              right: true,
              cell: ({ restarts }) => <span class={restarts > 0 ? "warn" : undefined}>{restarts}</span>,
            },
            { title: "Started", right: true, cell: ({ started_at: at }) => <Ago at={at} /> },
            { title: "Ports", cell: portsOf },
          ]}
        />
      )}
    </section>
  );
}

/** One replica less or more. */
function Steps({ app }: { app: AppDetail }) {
  const missing = lacks("actions");
  return (
    <span class="row">
      <Button
        hindrance={missing}
        disabled={app.desired === 0}
        title="One replica less"
        onClick={() => askScale(app, app.desired - 1)}
      >
        −
      </Button>
      <Button hindrance={missing} title="One replica more" onClick={() => askScale(app, app.desired + 1)}>
        +
      </Button>
    </span>
  );
}

function whyOf({ reason, exit_code: code, oom_killed: oom, ready }: Replica) {
  if (oom) return <span class="bad">out of memory</span>;
  if (reason !== undefined && !ready) return localTimes(reason);
  return ready || code === undefined ? <span class="faint">–</span> : `exit code ${code}`;
}

function memoryOf({ usage }: Replica) {
  if (usage === undefined) return "–";
  return <span title={`of ${bytesText(usage.memory_limit_bytes)}`}>{bytesText(usage.memory_bytes)}</span>;
}

function portsOf({ ports }: Replica) {
  const texts = ports.map(({ container, host_ip, host_port }) => `${host_ip}:${host_port} → ${container}`);
  return texts.length === 0 ? <span class="faint">–</span> : <code>{texts.join(", ")}</code>;
}
