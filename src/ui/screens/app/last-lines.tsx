import type { Replica } from "../../../observability/api/app-model.ts";
import { planePodLogs } from "../../../observability/api/pod-logs.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/load.ts";
import { plainLine } from "../../text/lines.ts";

const linesMax = 15;

/** What a replica that dies again and again printed last. */
export function LastLines({ replica: { pod, restarts } }: { replica: Replica }) {
  const { data: lines = [] } = useLoad(
    pod,
    async (signal) => {
      const answer = await api.raw(planePodLogs, { params: { name: pod }, query: { tail: linesMax }, signal });
      return answer.ok ? (await answer.text()).trimEnd().split("\n") : [];
    },
    String(restarts),
  );
  const text = lines.map(plainLine).join("\n");
  if (text === "") return null;
  return (
    <section class="section">
      <h2>{`Last lines of ${pod}`}</h2>
      {/* A key alone scrolls it. */}
      <pre class="whole-line" tabIndex={0} aria-label={`Last lines of ${pod}`} role="region">
        {text}
      </pre>
    </section>
  );
}
