import { apps } from "./data/model.ts";
import { leave } from "./data/session.ts";
import { appPath } from "./browser/paths.ts";
import { chooseTimes } from "./browser/clock.ts";
import { chooseTheme } from "./browser/theme.ts";
import { type Entry, offered } from "./parts/palette.tsx";
import { screens } from "./screens.ts";

/** What the palette leads to. */
export function entries(): readonly Entry[] {
  return [
    ...offered.value,
    ...screens
      .filter(({ path }) => !path.includes(":"))
      .map(({ path, title }) => ({ title, sort: "screen", href: path })),
    ...apps.value.map((app) => ({ title: `${app.scope}/${app.name}`, sort: app.state, href: appPath(app) })),
    ...apps.value.map((app) => ({ title: `${app.scope}/${app.name} logs`, sort: "logs", href: appPath(app, "logs") })),
    { title: "Sign out", sort: "action", run: () => void leave() },
    { title: "Times: exact", sort: "action", run: () => chooseTimes(true) },
    { title: "Times: how long ago", sort: "action", run: () => chooseTimes(false) },
    ...(["light", "dark", "system"] as const).map((name) => ({
      title: `Colours: ${name}`,
      sort: "action",
      run: () => chooseTheme(name),
    })),
  ];
}
