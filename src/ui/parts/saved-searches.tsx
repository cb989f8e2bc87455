import { type Signal, signal } from "@preact/signals";
import {
  deleteSavedSearch,
  listSavedSearches,
  type LogSearch,
  saveSearch,
} from "../../observability/api/log-searches.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { lacks } from "../data/session.ts";
import { go, withQuery } from "../browser/router.ts";
import { searchCommand, searchText } from "../text/searches.ts";
import { Button } from "./button.tsx";
import { ask } from "./dialog.tsx";
import { NameField } from "./name-field.tsx";
import { say } from "../data/notices.ts";

type Wanted = Required<Pick<LogSearch, "q" | "app" | "level" | "from">>;

const isSame = (wanted: Wanted, { q = "", app = "", level = "", from = "" }: LogSearch) =>
  q === wanted.q && app === wanted.app && level === wanted.level && from === wanted.from;

/** Searches that everybody shares: choose one, save what is looked for now. */
export function SavedSearches({ wanted }: { wanted: Wanted }) {
  const loaded = useLoad("searches", (signal) => api.call(listSavedSearches, { signal }));
  const searches = loaded.data?.searches ?? [];
  const chosen = searches.find((one) => isSame(wanted, one));
  const missing = lacks("actions");
  const open = (name: string) => {
    const found = searches.find((one) => one.name === name);
    if (found === undefined) return;
    const { q, app, level, from } = found;
    go(withQuery({ q, app, level, from, until: undefined }));
  };
  return (
    <>
      {searches.length === 0 ? null : (
        <select
          class="input"
          aria-label="Saved searches"
          value={chosen?.name ?? ""}
          onChange={(event) => open(event.currentTarget.value)}
        >
          <option value="">saved searches</option>
          {searches.map((search) => (
            <option key={search.name} value={search.name} title={searchText(search)}>
              {search.name}
            </option>
          ))}
        </select>
      )}
      {chosen === undefined ? (
        <Button look="bare" hindrance={missing} onClick={() => askSave(wanted, searches, loaded.again)}>
          Save…
        </Button>
      ) : (
        <Button look="bare" hindrance={missing} onClick={() => askRemove(chosen, loaded.again)}>
          Delete…
        </Button>
      )}
    </>
  );
}

function askSave(wanted: Wanted, searches: readonly LogSearch[], again: () => void): void {
  const name = signal("");
  const given = Object.entries(wanted).filter(([, value]) => value !== "");
  ask({
    title: "Save this search",
    verb: "Save",
    command: searchCommand(wanted),
    effects: [{ text: `Every user can choose it: ${searchText(wanted)}` }],
    body: () => <SearchName name={name} taken={searches.map((one) => one.name)} />,
    run: async () => {
      await api.call(saveSearch, { params: { name: name.value.trim() }, body: Object.fromEntries(given) });
      say(`Saved ${name.value.trim()}`);
      again();
    },
  });
}

function SearchName({ name, taken }: { name: Signal<string>; taken: readonly string[] }) {
  return (
    <NameField id="search-name" name={name} hint="failed-payments">
      {taken.includes(name.value.trim()) ? (
        <span class="small warn">A search of this name exists. It will be replaced.</span>
      ) : null}
    </NameField>
  );
}

function askRemove({ name }: LogSearch, again: () => void): void {
  ask({
    title: `Delete the saved search ${name}`,
    verb: "Delete",
    danger: true,
    command: `berth searches remove ${name}`,
    effects: [{ text: "It is gone from the list of every user; the lines stay", ends: true }],
    run: async () => {
      await api.call(deleteSavedSearch, { params: { name } });
      again();
    },
  });
}
