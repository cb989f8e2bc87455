import type { App } from "../../observability/api/app-model.ts";
import { appPath } from "../browser/paths.ts";
import { bytesText, percentText, rateText, shareText, readyOf } from "../text/figures.ts";
import { appTones } from "../text/states.ts";
import { Spark } from "./spark.tsx";
import { State } from "./state.tsx";
import { localTimes } from "../text/times.ts";

/** An app in a few figures. */
export function AppTile({ app }: { app: App }) {
  const { traffic, usage, sparks, state } = app;
  const name = `${app.scope}/${app.name}`;
  return (
    <a class="card tile" href={appPath(app)}>
      <span class="name">
        <span class="cut" title={name}>
          {name}
        </span>
        <State tone={appTones[state]} text={state} />
      </span>
      {state === "ready" ? null : (
        <span class="small soft cut" title={localTimes(app.summary)}>
          {localTimes(app.deploy ?? app.summary)}
        </span>
      )}
      {sparks === undefined ? null : (
        <Spark
          points={traffic === undefined ? sparks.cpu_percent : sparks.rate}
          label={traffic === undefined ? `CPU of ${name}` : `requests per second of ${name}`}
        />
      )}
      <dl class="figures small">
        <Figure name="Replicas" text={readyOf(app, "/")} />
        <Figure
          name={traffic === undefined ? "CPU" : "Requests"}
          text={traffic === undefined ? cpuOf(app) : rateText(traffic.rate)}
        />
        {traffic === undefined || traffic.requests === 0 ? (
          <Figure name="Memory" text={usage === undefined ? "–" : bytesText(usage.memory_bytes)} />
        ) : (
          <Figure name="Failed" text={shareText(traffic.failed, traffic.requests)} />
        )}
      </dl>
    </a>
  );
}

const cpuOf = ({ usage }: App) => (usage === undefined ? "–" : percentText(usage.cpu_percent));

function Figure({ name, text }: { name: string; text: string }) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>{text}</dd>
    </div>
  );
}
