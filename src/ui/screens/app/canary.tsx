import type { AppDetail } from "../../../observability/api/apps.ts";
import { lacks } from "../../data/session.ts";
import { Button } from "../../parts/button.tsx";
import { Table } from "../../parts/table.tsx";
import { durationText, percentText, shareText } from "../../text/figures.ts";
import { askCanary } from "./actions.tsx";

type Canary = NonNullable<AppDetail["canary"]>;

/** The steps of a canary with what can be done now, and the figures of the new release beside those of the old one. */
export function CanaryBar({ app, canary }: { app: AppDetail; canary: Canary }) {
  const { release, state, text, step, steps, share, left_seconds: left } = canary;
  const isUnder = state !== "kept" && state !== "replacing";
  return (
    <section class="section" aria-label="Canary">
      <header>
        <h2>{`Canary ${release}: ${percentText(share * 100)} of the requests`}</h2>
        {isUnder ? (
          <span class="row">
            {state === "paused" ? (
              <Button hindrance={lacks("actions")} look="main" onClick={() => askCanary(app, "Resume")}>
                Resume…
              </Button>
            ) : (
              <Button hindrance={lacks("actions")} onClick={() => askCanary(app, "Pause")}>
                Pause…
              </Button>
            )}
            <Button hindrance={lacks("actions")} onClick={() => askCanary(app, "Promote")}>
              Promote…
            </Button>
            <Button hindrance={lacks("actions")} look="danger" onClick={() => askCanary(app, "Abort")}>
              Abort…
            </Button>
          </span>
        ) : null}
      </header>
      <ol class="stages" aria-label="Steps">
        {steps.map((one, index) => (
          <li key={`${index} ${one.share}`} aria-current={index + 1 === step ? "step" : undefined}>
            <strong>{percentText(one.share * 100)}</strong>
            <span class="small">{stageText(index + 1, canary)}</span>
          </li>
        ))}
        <li aria-current={step > steps.length ? "step" : undefined}>
          <strong>100 %</strong>
          <span class="small">{step > steps.length ? "now" : "at the end"}</span>
        </li>
      </ol>
      <p class="soft">{left === undefined ? text : `${text}; ${durationText(left * 1_000)} left`}</p>
      <Beside canary={canary} />
    </section>
  );
}

function stageText(number: number, { step, steps }: Canary): string {
  if (number < step) return "passed";
  const pause = steps[number - 1]?.pause_seconds;
  const long = pause === undefined ? "until resumed" : `for ${durationText(pause * 1_000)}`;
  return number === step ? `now, ${long}` : long;
}

/** The two releases side by side: what decides whether to go on. */
function Beside({ canary: { traffic, replicas } }: { canary: Canary }) {
  const rows = (["new", "old"] as const).map((which) => ({
    which,
    replicas: replicas[which],
    figures: traffic?.[which],
  }));
  return (
    <Table
      label="New and old release"
      rows={rows}
      keyOf={({ which }) => which}
      columns={[
        { title: "Release", cell: ({ which }) => which },
        { title: "Replicas", right: true, cell: (row) => row.replicas },
        { title: "Requests", right: true, cell: ({ figures }) => figures?.requests ?? "–" },
        {
          title: "Failed",
          right: true,
          cell: ({ figures }) => (figures === undefined ? "–" : shareText(figures.failed, figures.requests)),
        },
        {
          title: "p99",
          right: true,
          cell: ({ figures }) => (figures?.p99_ms === undefined ? "–" : `${figures.p99_ms} ms`),
        },
      ]}
    />
  );
}
