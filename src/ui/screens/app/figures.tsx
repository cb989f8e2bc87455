import type { AppDetail } from "../../../observability/api/apps.ts";
import { Spark } from "../../parts/spark.tsx";
import { bytesText, percentText, rateText, shareText } from "../../text/figures.ts";

/** The last minutes in four small lines. */
export function Figures({ app }: { app: AppDetail }) {
  const { sparks, traffic, usage } = app;
  if (traffic === undefined && usage === undefined) return null;
  const limit = usage?.memory_limit_bytes;
  return (
    <section class="card strip" aria-label="Figures">
      {traffic === undefined ? null : (
        <>
          <Cell
            name="Requests"
            text={rateText(traffic.rate)}
            aside={traffic.p99_ms === undefined ? "" : `p99 ${traffic.p99_ms} ms`}
            points={sparks?.rate}
          />
          <Cell
            name="Failed"
            text={shareText(traffic.failed, traffic.requests)}
            aside={`${traffic.failed} in ${traffic.seconds} s`}
            points={sparks?.failed_rate}
            bad={traffic.failed > 0}
          />
        </>
      )}
      {usage === undefined ? null : (
        <>
          <Cell
            name="CPU"
            text={percentText(usage.cpu_percent)}
            aside="100 % is one core"
            points={sparks?.cpu_percent}
          />
          <Cell
            name="Memory"
            text={bytesText(usage.memory_bytes)}
            aside={limit === undefined ? "" : `of ${bytesText(limit)}`}
            points={sparks?.memory_bytes}
          />
        </>
      )}
    </section>
  );
}

interface CellProps {
  name: string;
  text: string;
  aside: string;
  points: readonly (number | null)[] | undefined;
  bad?: boolean;
}

function Cell({ name, text, aside, points, bad }: CellProps) {
  return (
    <div>
      <span class="small soft">{name}</span>
      <span>
        <strong>{text}</strong> <span class="small soft">{aside}</span>
      </span>
      {points === undefined ? null : <Spark points={points} label={name} {...(bad ? { tone: "bad" as const } : {})} />}
    </div>
  );
}
