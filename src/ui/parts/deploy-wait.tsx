import { useEffect, useRef } from "preact/hooks";
import type { App } from "../../observability/api/app-model.ts";
import type { Operation } from "../../observability/api/operations.ts";
import { apps, operations } from "../data/model.ts";
import { appPath } from "../browser/paths.ts";
import { outcomeTone, reachOf } from "../text/states.ts";
import { Note } from "./notes.tsx";
import { State } from "./state.tsx";

/** How far the rollouts of a deploy are, and then where to open what was deployed. */
export function DeployWait({ begun }: { begun: readonly Operation[] }) {
  const now = begun.map((operation) => operations.value.get(operation.id) ?? operation);
  const deployed = apps.value.filter(({ scope, name }) =>
    now.some(({ app }) => app.scope === scope && app.name === name),
  );
  const isDone = now.every(({ state }) => state === "succeeded");
  const place = useRef<HTMLElement>(null);
  useEffect(() => place.current?.scrollIntoView({ block: "nearest" }), []);
  return (
    <section ref={place} class="section" aria-live="polite">
      <h2>Rollout</h2>
      <ul class="card releases">
        {now.map(({ id, app, state, text, error }) => (
          <li key={id} class="inset">
            <p class="row">
              <State tone={outcomeTone(state)} text={state} />
              <a href={appPath(app)}>{`${app.scope}/${app.name}`}</a>
              <span class="soft">{text}</span>
            </p>
            {error === undefined ? null : <Note tone="bad">{error}</Note>}
          </li>
        ))}
      </ul>
      {isDone ? deployed.map((app) => <Reach key={`${app.scope}/${app.name}`} app={app} />) : null}
    </section>
  );
}

/** Where an app opens, or why it does not. */
function Reach({ app }: { app: App }) {
  const reach = reachOf(app);
  return (
    <>
      {reach.map(({ url, why }) => (
        <Note key={url} tone={why === undefined ? undefined : "warn"}>
          <a href={url} target="_blank" rel="noreferrer">
            {`Open ${url}`}
          </a>
          {why === undefined ? null : ` ${why}`}
        </Note>
      ))}
      {reach.length === 0 ? (
        <Note>
          {`${app.scope}/${app.name} runs and has no address: no host leads to it. `}
          <a href={`/new?of=${encodeURIComponent(`${app.scope}/${app.name}`)}`}>Give it a host</a>
        </Note>
      ) : null}
    </>
  );
}
