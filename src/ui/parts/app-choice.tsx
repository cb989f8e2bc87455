import { apps } from "../data/model.ts";
import { go, withQuery } from "../browser/router.ts";

/** Which app a page is about, in its address; one that is gone stays chosen. */
export function AppChoice({ app }: { app: string }) {
  const names = apps.value.map(({ scope, name }) => `${scope}/${name}`);
  return (
    <select
      class="input"
      aria-label="App"
      value={app}
      onChange={(event) => go(withQuery({ app: event.currentTarget.value }))}
    >
      <option value="">every app</option>
      {app === "" || names.includes(app) ? null : <option value={app}>{app}</option>}
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
