import type { Signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { aggregates, type BoardChart, type ChartUnit, chartUnits } from "../../observability/api/boards.ts";
import { boardText, draftOf, moved } from "../text/boards.ts";
import { Button } from "./button.tsx";
import { NameField } from "./name-field.tsx";
import { Note } from "./notes.tsx";

const newChart: BoardChart = { title: "CPU of the machine", metric: "system.cpu_percent", unit: "percent" };

/** A board as a form, or as its JSON: both change the same text. `name`: of a board that is new. */
export function BoardForm({ name, text }: { name: Signal<string> | undefined; text: Signal<string> }) {
  const [isJson, setIsJson] = useState(false);
  return (
    <>
      {name === undefined ? null : <NameField id="board-name" name={name} hint="night-shift" />}
      <div class="row" role="group" aria-label="How to change it">
        {[false, true].map((json) => (
          <Button key={String(json)} {...(json === isJson ? {} : { look: "bare" })} onClick={() => setIsJson(json)}>
            {json ? "As JSON" : "Charts"}
          </Button>
        ))}
      </div>
      {isJson ? <Json text={text} /> : <Charts text={text} />}
    </>
  );
}

function Json({ text }: { text: Signal<string> }) {
  return (
    <div class="field">
      <label for="board-text">Charts, as JSON; berth boards show prints the same</label>
      <textarea
        id="board-text"
        class="input tall mono"
        spellcheck={false}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
      />
    </div>
  );
}

function Charts({ text }: { text: Signal<string> }) {
  const draft = draftOf(text.value);
  if (draft === undefined) return <Note tone="warn">The JSON is not a board. Correct it there.</Note>;
  const { title, charts } = draft;
  const put = (list: BoardChart[]) => {
    text.value = boardText({ title, charts: list });
  };
  return (
    <>
      <div class="field">
        <label for="board-title">Title</label>
        <input
          id="board-title"
          class="input"
          maxLength={100}
          value={title}
          onInput={(event) => {
            text.value = boardText({ title: event.currentTarget.value, charts });
          }}
        />
      </div>
      {charts.map((chart, at) => (
        <ChartFields
          // Charts have no name: its place is what a chart is known by.
          key={String(at)}
          chart={chart}
          number={at + 1}
          onChange={(next) => put(charts.with(at, next))}
          onRemove={charts.length === 1 ? undefined : () => put(charts.toSpliced(at, 1))}
          onUp={at === 0 ? undefined : () => put(moved(charts, at, -1))}
          onDown={at === charts.length - 1 ? undefined : () => put(moved(charts, at, 1))}
        />
      ))}
      <Button onClick={() => put([...charts, newChart])}>Add a chart</Button>
    </>
  );
}

interface ChartFieldsProps {
  chart: BoardChart;
  number: number;
  onChange: (chart: BoardChart) => void;
  /** Undefined where it cannot be done. */
  onRemove: (() => void) | undefined;
  onUp: (() => void) | undefined;
  onDown: (() => void) | undefined;
}

function ChartFields({ chart, number, onChange, onRemove, onUp, onDown }: ChartFieldsProps) {
  const { agg, ...withoutAgg } = chart;
  return (
    <fieldset class="card chart-fields">
      <legend class="label">{`Chart ${number}`}</legend>
      <input
        class="input"
        aria-label={`Title of chart ${number}`}
        required
        maxLength={100}
        value={chart.title}
        onInput={(event) => onChange({ ...chart, title: event.currentTarget.value })}
      />
      <input
        class="input mono"
        aria-label={`Metrics of chart ${number}`}
        title="SOURCE.NAME, several with commas"
        placeholder="pod.cpu_percent"
        required
        spellcheck={false}
        value={chart.metric}
        onInput={(event) => onChange({ ...chart, metric: event.currentTarget.value })}
      />
      <div class="row">
        <select
          class="input narrow"
          aria-label={`Values of chart ${number}`}
          value={agg ?? ""}
          onChange={({ currentTarget: { value } }) => onChange(value === "" ? withoutAgg : { ...chart, agg: value })}
        >
          <option value="">as usual</option>
          {aggregates.map((word) => (
            <option key={word} value={word}>
              {word}
            </option>
          ))}
        </select>
        <select
          class="input narrow"
          aria-label={`Unit of chart ${number}`}
          value={chart.unit}
          onChange={(event) => onChange({ ...chart, unit: event.currentTarget.value as ChartUnit })}
        >
          {chartUnits.map((word) => (
            <option key={word} value={word}>
              {word.replaceAll("_", " ")}
            </option>
          ))}
        </select>
        <Step text="↑" title={`Move chart ${number} up`} onClick={onUp} />
        <Step text="↓" title={`Move chart ${number} down`} onClick={onDown} />
        <Step text="Remove" title={`Remove chart ${number}`} onClick={onRemove} />
      </div>
    </fieldset>
  );
}

function Step({ text, title, onClick }: { text: string; title: string; onClick: (() => void) | undefined }) {
  return (
    <Button look="bare" title={title} disabled={onClick === undefined} {...(onClick === undefined ? {} : { onClick })}>
      {text}
    </Button>
  );
}
