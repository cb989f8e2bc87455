import { Page } from "../frame/page.tsx";
import { go, query, withQuery } from "../browser/router.ts";
import { AppChoice } from "../parts/app-choice.tsx";
import { SavedSearches } from "../parts/saved-searches.tsx";
import { LiveLog } from "../parts/live-log.tsx";
import { StoredLog } from "../parts/stored-log.tsx";

const spans: readonly [string, string][] = [
  ["", "Live"],
  ["15m", "Last 15 min"],
  ["1h", "Last hour"],
  ["24h", "Last day"],
  ["168h", "Last week"],
];

const levels: readonly [string, string][] = [
  ["", "every level"],
  ["info", "info and above"],
  ["warn", "warnings and above"],
  ["error", "errors"],
];

/** What the address says of the lines that are wanted; live and stored lines are chosen by the same words. */
function wanted() {
  const of = (name: string) => query.value.get(name) ?? "";
  return { app: of("app"), q: of("q"), level: of("level"), from: of("from"), until: of("until") };
}

/** Output of apps: as it is written, or searched in what is stored, also of containers that are gone. */
export function Screen() {
  const { app, q, level, from, until } = wanted();
  const filter = { app, q, level };
  const command = [
    "berth logs",
    app === "" ? "SCOPE" : app,
    from === "" ? "-f" : `--since ${from}`,
    q === "" ? "" : `--grep ${JSON.stringify(q)}`,
    level === "" ? "" : `--level ${level}`,
  ];
  return (
    <Page title="Logs" command={command.filter(Boolean).join(" ")} whole>
      <div class="row">
        <AppChoice app={app} />
        <input
          class="input grow"
          type="search"
          aria-label="Search"
          placeholder='words, "a phrase", /expression/, status>=500, -term'
          value={q}
          onChange={(event) => go(withQuery({ q: event.currentTarget.value }))}
        />
        <Choice label="Level" name="level" value={level} choices={levels} />
        <Choice
          label="Time"
          name="from"
          value={until === "" ? from : "custom"}
          choices={until === "" ? spans : [...spans, ["custom", "Chosen span"]]}
        />
        <SavedSearches wanted={{ ...filter, from: until === "" ? from : "" }} />
      </div>
      {from === "" ? (
        <LiveLog key={JSON.stringify(filter)} filter={filter} />
      ) : (
        <StoredLog key={JSON.stringify([filter, from, until])} filter={{ ...filter, from, until }} />
      )}
    </Page>
  );
}

interface ChoiceProps {
  label: string;
  name: string;
  value: string;
  choices: readonly (readonly [string, string])[];
}

function Choice({ label, name, value, choices }: ChoiceProps) {
  return (
    <select
      class="input"
      aria-label={label}
      value={value}
      onChange={(event) =>
        go(withQuery({ [name]: event.currentTarget.value, ...(name === "from" ? { until: undefined } : {}) }))
      }
    >
      {choices.map(([one, text]) => (
        <option key={one} value={one}>
          {text}
        </option>
      ))}
    </select>
  );
}
