import type { AppDetail } from "../../../observability/api/apps.ts";
import { ProblemList } from "../../parts/problem-list.tsx";
import { Note } from "../../parts/notes.tsx";
import { localTimes } from "../../text/times.ts";
import { ReleaseFacts } from "./release-facts.tsx";
import { LastLines } from "./last-lines.tsx";
import { Replicas } from "./replicas.tsx";
import { Figures } from "./figures.tsx";
import { Hosts } from "./hosts.tsx";

/** How an app is now: what is wrong, its replicas, its figures, its release, where it is reached. */
export function About({ app }: { app: AppDetail }) {
  const dying = app.replicas.find(({ state }) => state === "crashing");
  return (
    <>
      {app.problems.length === 0 ? null : <ProblemList list={app.problems} own />}
      {dying === undefined ? null : <LastLines replica={dying} />}
      {app.deploy === undefined ? null : <Note tone="work">{`A deploy is under way: ${localTimes(app.deploy)}`}</Note>}
      {app.canary === undefined ? null : <Note tone="work">{`Canary ${app.canary.release}: ${app.canary.text}`}</Note>}
      {app.warnings.map((warning) => (
        <Note key={warning} tone="warn">
          {warning}
        </Note>
      ))}
      <Figures app={app} />
      <Replicas app={app} />
      <div class="columns">
        <ReleaseFacts app={app} />
        <Hosts app={app} />
      </div>
    </>
  );
}
