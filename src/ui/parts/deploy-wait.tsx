import { useEffect, useRef } from "preact/hooks";
import type { Operation } from "../../observability/api/operations.ts";
import { apps, operations } from "../data/model.ts";
import { appPath } from "../browser/paths.ts";
import { outcomeTone } from "../text/states.ts";
import { Note } from "./notes.tsx";
import { State } from "./state.tsx";

/** How far the rollouts of a deploy are, and then where to open what was deployed. */
export function DeployWait({ begun }: { begun: readonly Operation[] }) {
  const now = begun.map((operation) => operations.value.get(operation.id) ?? operation);
  const addresses = apps.value
    .filter(({ scope }) => now.some(({ app }) => app.scope === scope))
    .filter(({ name }) => now.some(({ app }) => app.name === name))
    .flatMap(({ hosts }) => hosts.map(({ url }) => url));
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
      {isDone
        ? addresses.map((url) => (
            <p key={url}>
              <a href={url} target="_blank" rel="noreferrer">
                {`Open ${url}`}
              </a>
            </p>
          ))
        : null}
    </section>
  );
}
