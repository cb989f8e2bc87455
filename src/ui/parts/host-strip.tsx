import type { HostStrip } from "../../observability/api/apps.ts";
import { bytesText, durationText, percentText } from "../text/figures.ts";
import { Meter } from "./meter.tsx";

/** The machine in four figures. */
export function HostStripe({ host }: { host: HostStrip }) {
  return (
    <section class="section">
      <header>
        <h2>{host.hostname}</h2>
        <span class="small soft">{`up ${durationText(host.uptime_seconds * 1000)}`}</span>
      </header>
      <div class="card strip">
        <Cell
          name="CPU"
          text={percentText(host.cpu_percent)}
          of={`${host.cores} cores`}
          part={host.cpu_percent}
          whole={100}
        />
        <Cell
          name="Memory"
          text={bytesText(host.memory_used_bytes)}
          of={bytesText(host.memory_total_bytes)}
          part={host.memory_used_bytes}
          whole={host.memory_total_bytes}
        />
        <Cell
          name="Disk"
          text={bytesText(host.disk_used_bytes)}
          of={bytesText(host.disk_total_bytes)}
          part={host.disk_used_bytes}
          whole={host.disk_total_bytes}
        />
        <Cell
          name="Load, 1 min"
          text={host.load_1.toFixed(2)}
          of={`${host.cores} cores`}
          part={host.load_1}
          whole={host.cores}
        />
      </div>
    </section>
  );
}

interface CellProps {
  name: string;
  text: string;
  of: string;
  part: number;
  whole: number;
}

function Cell({ name, text, of, part, whole }: CellProps) {
  return (
    <div>
      <span class="small soft">{name}</span>
      <span>
        <strong>{text}</strong> <span class="soft small">{`of ${of}`}</span>
      </span>
      <Meter part={part} whole={whole} label={name} />
    </div>
  );
}
