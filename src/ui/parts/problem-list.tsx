import type { AppProblem } from "../../observability/api/app-model.ts";
import { appPath } from "../browser/paths.ts";
import { severityTones } from "../text/states.ts";
import { localTimes } from "../text/times.ts";
import { State } from "./state.tsx";
import { Ago } from "./time.tsx";

/** What is wrong, why, and what to do next. `own`: on the page of the app itself, which needs no way there. */
export function ProblemList({ list, own = false }: { list: readonly AppProblem[]; own?: boolean }) {
  return (
    <ul class="card problems">
      {list.map((problem) => (
        <Problem key={problem.id} problem={problem} own={own} />
      ))}
    </ul>
  );
}

function Problem({ problem, own }: { problem: AppProblem; own: boolean }) {
  const { severity, title, cause, app, since, command } = problem;
  const tone = severityTones[severity];
  const leads = app !== undefined && !own;
  return (
    <li class={tone}>
      <div>
        <p class="what">
          <State tone={tone} text="" /> {leads ? <a href={appPath(app)}>{title}</a> : title}
        </p>
        <p class="cause">{localTimes(cause)}</p>
        {command === undefined ? null : <code class="small">{command}</code>}
      </div>
      <div class="row small soft">
        {since === undefined ? null : (
          <span>
            since <Ago at={since} />
          </span>
        )}
        {leads ? (
          <a class="button" href={appPath(app)}>
            Look
          </a>
        ) : null}
      </div>
    </li>
  );
}
