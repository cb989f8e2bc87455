import type { AppDetail } from "../../../observability/api/apps.ts";
import { LiveLog } from "../../parts/live-log.tsx";

/** The app's output as it is written; searching is on the page of logs. */
export function Logs({ app: { scope, name } }: { app: AppDetail }) {
  const app = `${scope}/${name}`;
  return (
    <section class="section">
      <LiveLog filter={{ app, q: "", level: "" }} />
      <p class="small">
        <a href={`/logs?app=${encodeURIComponent(app)}&from=1h`}>
          Search what is stored, also of replicas that are gone
        </a>
      </p>
    </section>
  );
}
