import { chooseTheme } from "./frame/theme.ts";
import type { Entry } from "./parts/palette.tsx";
import { screens } from "./screens.ts";

/** What the palette leads to. */
export function entries(): readonly Entry[] {
  return [
    ...screens
      .filter(({ path }) => !path.includes(":"))
      .map(({ path, title }) => ({ title, sort: "screen", href: path })),
    ...(["light", "dark", "system"] as const).map((name) => ({
      title: `Colours: ${name}`,
      sort: "action",
      run: () => chooseTheme(name),
    })),
  ];
}
