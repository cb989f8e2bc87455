import { useState } from "preact/hooks";
import { scopes } from "../../../base/wire/endpoint.ts";
import { Command } from "../../parts/command.tsx";
import { ask } from "../../parts/dialog.tsx";
import { tokenCommand } from "../../text/agents.ts";

const ends: readonly [value: string, text: string][] = [
  ["90d", "in 90 days"],
  ["365d", "in a year"],
  ["12h", "in 12 hours"],
  ["never", "never"],
];

/** Puts the command together: a token and a page cannot make another token, so that one that leaks does not outlive its end. */
export function askToken(): void {
  ask({
    title: "Make a token",
    effects: [{ text: "Run the command on the server; it prints the token once" }],
    body: () => <Fields />,
  });
}

function Fields() {
  const [wanted, setWanted] = useState({ name: "", scopes: ["read"], apps: "", expires: "90d" });
  return (
    <>
      <div class="field">
        <label for="token-name">What it is for</label>
        <input
          id="token-name"
          class="input"
          autocomplete="off"
          placeholder="grafana"
          onInput={(event) => setWanted({ ...wanted, name: event.currentTarget.value })}
        />
      </div>
      <fieldset class="chart-fields">
        <legend>What it may do</legend>
        {scopes.map((scope) => (
          <label key={scope} class="row flat">
            <input
              type="checkbox"
              checked={wanted.scopes.includes(scope)}
              onChange={(event) => {
                const others = wanted.scopes.filter((one) => one !== scope);
                setWanted({ ...wanted, scopes: event.currentTarget.checked ? [...others, scope] : others });
              }}
            />
            {scope}
          </label>
        ))}
      </fieldset>
      <div class="field">
        <label for="token-apps">Only these apps; empty for all</label>
        <input
          id="token-apps"
          class="input"
          autocomplete="off"
          placeholder="shop, data/main"
          onInput={(event) => setWanted({ ...wanted, apps: event.currentTarget.value })}
        />
      </div>
      <div class="field">
        <label for="token-ends">Ends</label>
        <select
          id="token-ends"
          class="input"
          value={wanted.expires}
          onChange={(event) => setWanted({ ...wanted, expires: event.currentTarget.value })}
        >
          {ends.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </div>
      <Command text={tokenCommand(wanted)} />
    </>
  );
}
