import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { isDark } from "../browser/theme.ts";
import { axisSteps } from "../text/figures.ts";
import { axisTexts, exactText } from "../text/times.ts";

interface Series {
  name: string;
  /** One value per time; null where nothing was measured. */
  values: readonly (number | null)[];
  colour: string;
}

interface ChartProps {
  label: string;
  /** Seconds since 1970, rising. */
  times: readonly number[];
  series: readonly Series[];
  /** A value as text: on the axis and in the legend. */
  text: (value: number) => string;
  /** The viewer dragged over a span: seconds since 1970. */
  onZoom?: (from: number, until: number) => void;
  /** Charts with the same word share their cross-hair. */
  shared?: string;
  marks?: readonly { at: number; text: string }[];
  /** For a screen that is seen from afar. */
  tall?: boolean;
}

/** More lines than this get a list below, the greatest first. */
const legendMax = 4;
const heightPx = 172;
const tallPx = 300;

/** A chart over time on a canvas; the same figures are a table for screen readers. */
export function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  /** The point under the cross-hair; the newest one where there is none. */
  const [at, setAt] = useState<number | undefined>(undefined);
  const { label, times, series, text } = props;
  const shape = series.map(({ name }) => name).join("\n") + String(isDark.value);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    if (place.current === null) return undefined;
    const drawn = draw(place.current, latest, setAt);
    plot.current = drawn;
    const watch = new ResizeObserver(([entry]) =>
      drawn.setSize({ width: Math.max(entry?.contentRect.width ?? 0, 80), height: heightOf(props) }),
    );
    watch.observe(place.current);
    return () => {
      watch.disconnect();
      drawn.destroy();
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(dataOf(props)), [times, series]);
  const [only, setOnly] = useState<string | undefined>(undefined);
  useEffect(() => {
    for (const [index, { name }] of series.entries())
      plot.current?.setSeries(index + 1, { show: only === undefined || only === name });
  }, [only, shape]);
  const isLong = series.length > legendMax;
  return (
    <figure class="card chart">
      <figcaption>
        <h3>{label}</h3>
        <span class="row small">
          {at === undefined ? null : <span class="faint">{exactText((times[at] ?? 0) * 1000).slice(5, 19)}</span>}
          {isLong
            ? null
            : series.map(({ name, values, colour }) => (
                <span key={name} class="row">
                  <i class="swatch" style={{ background: colour }} />
                  <span class="soft">{name}</span>
                  <strong>{at === undefined ? lastText(values, text) : pointText(values[at], text)}</strong>
                </span>
              ))}
        </span>
      </figcaption>
      <div
        ref={place}
        role="img"
        aria-label={`${label}: ${series.map(({ name, values }) => `${name} ${lastText(values, text)}`).join(", ")}`}
      />
      {isLong ? <Legend {...props} at={at} only={only} onOnly={setOnly} /> : null}
    </figure>
  );
}

/** Lines by their value; a press shows one alone, and once more all of them. */
function Legend({
  label,
  series,
  text,
  at,
  only,
  onOnly,
}: ChartProps & { at: number | undefined; only: string | undefined; onOnly: (name: string | undefined) => void }) {
  const shownOf = (values: Series["values"]) =>
    (at === undefined ? values.findLast((value) => value !== null) : values[at]) ?? Number.NEGATIVE_INFINITY;
  const sorted = series.toSorted((a, b) => shownOf(b.values) - shownOf(a.values));
  return (
    <ul class="legend small" aria-label={`Lines of ${label}`}>
      {sorted.map(({ name, values, colour }) => (
        <li key={name}>
          <button
            type="button"
            aria-pressed={only === undefined ? undefined : only === name}
            onClick={() => onOnly(only === name ? undefined : name)}
          >
            <i class="swatch" style={{ background: colour }} />
            <span class="cut">{name}</span>
            <strong>{at === undefined ? lastText(values, text) : pointText(values[at], text)}</strong>
          </button>
        </li>
      ))}
    </ul>
  );
}

const heightOf = ({ tall = false }: ChartProps) => (tall ? tallPx : heightPx);

function lastText(values: readonly (number | null)[], text: (value: number) => string): string {
  const last = values.findLast((value) => value !== null);
  return last === undefined || last === null ? "–" : text(last);
}

const pointText = (value: number | null | undefined, text: (value: number) => string) =>
  value === null || value === undefined ? "–" : text(value);

const dataOf = ({ times, series }: ChartProps): uPlot.AlignedData => [
  [...times],
  ...series.map(({ values }) => [...values]),
];

function draw(place: HTMLElement, latest: { current: ChartProps }, onPoint: (at: number | undefined) => void): uPlot {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const { series, text, shared, onZoom } = latest.current;
  const axis = {
    stroke: colour("--soft"),
    font: `11px ${colour("--sans")}`,
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  return new uPlot(
    {
      width: Math.max(place.clientWidth, 80),
      height: heightOf(latest.current),
      legend: { show: false },
      cursor: {
        ...(shared === undefined ? {} : { sync: { key: shared } }),
        drag: { x: onZoom !== undefined, y: false, setScale: false },
        points: { size: 6 },
      },
      scales: { y: { range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 0) > 0 ? (high ?? 0) * 1.1 : 1] } },
      axes: [
        { ...axis, space: 60, size: 28, values: (_, splits) => axisTexts(splits) },
        { ...axis, size: 64, incrs: axisSteps(text), values: (_, splits) => splits.map(text) },
      ],
      series: [
        {},
        ...series.map(({ name, colour: own }) => ({
          label: name,
          stroke: resolved(own, colour),
          width: 1.5,
          points: { show: false },
        })),
      ],
      hooks: {
        setSelect: [
          (self) => {
            if (self.select.width < 4) return;
            const { left, width } = self.select;
            latest.current.onZoom?.(self.posToVal(left, "x"), self.posToVal(left + width, "x"));
            self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
        setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)],
        draw: [(self) => drawMarks(self, latest.current.marks ?? [], colour("--edge"))],
      },
    },
    dataOf(latest.current),
    place,
  );
}

/** A canvas knows no CSS variables. */
const resolved = (own: string, colour: (name: string) => string) =>
  own.startsWith("var(") ? colour(own.slice(4, -1)) : own;

function drawMarks(plot: uPlot, marks: readonly { at: number; text: string }[], stroke: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = stroke;
  ctx.setLineDash([3, 3]);
  for (const { at } of marks) {
    const x = plot.valToPos(at, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}
