import type { BoardChart, ChartUnit } from "../../observability/api/boards.ts";
import type { Deploy } from "../../observability/api/apps.ts";
import { listDeploys } from "../../observability/api/deploys.ts";
import { queryMetrics } from "../../observability/api/metrics.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { tickedAt } from "../data/model.ts";
import { go, query, withQuery } from "../browser/router.ts";
import { bytesText, countText, percentText, rateText } from "../text/figures.ts";
import { linesOf } from "../text/boards.ts";
import { Button } from "./button.tsx";
import { Chart } from "./chart.tsx";
import { Empty, Loading } from "./notes.tsx";

const ranges = ["15m", "1h", "6h", "24h", "7d", "30d"];
const colours = Array.from({ length: 12 }, (_, index) => `var(--line-${index + 1})`);
const marksMax = 100;
const refreshMs = 15_000;

const texts: Record<ChartUnit, (value: number) => string> = {
  percent: percentText,
  bytes: bytesText,
  bytes_per_second: (value) => `${bytesText(value)}/s`,
  rate: rateText,
  ms: (value) => `${countText(Math.round(value))} ms`,
  count: (value) => countText(Math.round(value * 10) / 10),
};

/** The span that all charts of a page share; it is in the address. */
function span() {
  const from = query.value.get("from") ?? "1h";
  const until = query.value.get("until") ?? "";
  // A span that ends now moves on with the figures, not with the clock: nothing is asked for while nothing is new.
  const version = until === "" ? String(Math.floor(Date.parse(tickedAt.value || "0") / refreshMs)) : "";
  return { from, until, version };
}

export function SpanChoice() {
  const { from, until } = span();
  return (
    <div class="row" role="group" aria-label="Time">
      {ranges.map((range) => (
        <Button
          key={range}
          {...(range === from && until === "" ? {} : { look: "bare" as const })}
          onClick={() => go(withQuery({ from: range, until: undefined }))}
        >
          {range}
        </Button>
      ))}
      {until === "" ? null : (
        <Button look="main" onClick={() => go(withQuery({ from: undefined, until: undefined }))}>
          Back to now
        </Button>
      )}
    </div>
  );
}

/** Charts with one span and one cross-hair. `app`: only of this app. */
export function Board({ charts, app, tall = false }: { charts: readonly BoardChart[]; app?: string; tall?: boolean }) {
  const { from, version } = span();
  const { data } = useLoad(
    `marks ${app ?? ""} ${from}`,
    (signal) => api.call(listDeploys, { query: { app, since: from, history: true, limit: marksMax }, signal }),
    version,
  );
  return (
    <div class="columns">
      {charts.map((chart) => (
        <Figure
          key={JSON.stringify(chart)}
          chart={chart}
          app={app ?? chart.app}
          deploys={data?.deploys ?? []}
          tall={tall}
        />
      ))}
    </div>
  );
}

function Figure({
  chart,
  app,
  deploys,
  tall,
}: {
  chart: BoardChart;
  app: string | undefined;
  /** All that began in the span, those of other apps too. */
  deploys: readonly Deploy[];
  tall: boolean;
}) {
  const { title, metric, agg, unit, names, where } = chart;
  const { from, until, version } = span();
  const asked = { metric, from, app, agg, group_by: chart.group_by, where, until: until === "" ? undefined : until };
  const loaded = useLoad(JSON.stringify(asked), (signal) => api.call(queryMetrics, { query: asked, signal }), version);
  const { data } = loaded;
  if (data === undefined) {
    return loaded.fault === undefined ? (
      <Loading label={title} />
    ) : (
      <Empty title={title}>
        <p>{loaded.fault}</p>
        <Button onClick={loaded.again}>Try again</Button>
      </Empty>
    );
  }
  const lines = linesOf(data.results, names);
  const start = Date.parse(data.from) / 1000;
  const length = Math.max(0, ...lines.map(({ values }) => values.length));
  if (!lines.some(({ values }) => values.some((value) => value !== null))) {
    return (
      <Empty title={title}>
        <p>No figures in this time.</p>
      </Empty>
    );
  }
  const times = Array.from({ length }, (_, index) => start + index * data.step_seconds);
  const marks = deploys
    .filter((deploy) => app === undefined || `${deploy.app.scope}/${deploy.app.name}` === app)
    .map((deploy) => ({ at: Date.parse(deploy.started_at) / 1000, text: deploy.id }));
  const left = data.results.reduce((sum, { more }) => sum + more, 0);
  return (
    <div>
      <Chart
        label={title}
        times={times}
        series={lines.map((line, index) => ({ ...line, colour: colours[index % colours.length] ?? "" }))}
        text={texts[unit]}
        marks={marks}
        shared="board"
        tall={tall}
        onZoom={(low, high) => go(withQuery({ from: isoOf(low), until: isoOf(high) }))}
      />
      {left === 0 ? null : <p class="small soft">{`${left} more lines are left out`}</p>}
    </div>
  );
}

const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString();
