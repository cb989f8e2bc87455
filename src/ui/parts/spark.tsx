const width = 120;
const height = 28;

interface SparkProps {
  /** Oldest first; null is a gap. */
  points: readonly (number | null)[];
  /** What it shows, for screen readers: `requests per second of shop/web`. */
  label: string;
  tone?: "bad";
}

/** A small line without axes. It begins at zero, so that noise does not look like a wave. */
export function Spark({ points, label, tone }: SparkProps) {
  const known = points.filter((point) => point !== null);
  const last = known.at(-1);
  const text = last === undefined ? `${label}: no figures yet` : `${label}: ${last.toFixed(1)} now`;
  return (
    <svg
      class={tone === undefined ? "spark" : `spark ${tone}`}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
    >
      <title>{text}</title>
      <line
        x1="0"
        y1={height - 0.5}
        x2={width}
        y2={height - 0.5}
        stroke="var(--line)"
        vector-effect="non-scaling-stroke"
      />
      <path
        d={sparkPath(points)}
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        vector-effect="non-scaling-stroke"
      />
    </svg>
  );
}

function sparkPath(points: readonly (number | null)[]): string {
  const top = Math.max(...points.map((point) => point ?? 0), Number.MIN_VALUE);
  const step = width / Math.max(points.length - 1, 1);
  let open = false;
  const steps = points.map((point, index) => {
    if (point === null) {
      open = false;
      return "";
    }
    const at = `${(index * step).toFixed(1)} ${(height - 1 - (point / top) * (height - 3)).toFixed(1)}`;
    const move = open ? "L" : "M";
    open = true;
    return `${move}${at}`;
  });
  return steps.join("");
}
