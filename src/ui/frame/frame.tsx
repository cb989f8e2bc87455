import type { ComponentChildren } from "preact";
import { connection, heardText, staleText } from "../data/connection.ts";
import { leave, session } from "../data/session.ts";
import { openPalette } from "../parts/palette.tsx";
import { State } from "../parts/state.tsx";
import { screens } from "../screens.ts";
import { chooseTimes, isExact } from "../browser/clock.ts";
import { path, query } from "../browser/router.ts";
import { Mark } from "./mark.tsx";
import { chooseTheme, theme } from "../browser/theme.ts";

const listed = screens.filter(({ nav }) => nav !== undefined);

/** What stays while screens change: the list of screens, the search, how the connection is. */
export function Frame({ children }: { children: ComponentChildren }) {
  // On a wall there is only the board.
  if (path.value === "/metrics" && query.value.get("tv") !== null) return <>{children}</>;
  return (
    <div class="frame">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        Skip to the page
      </a>
      <nav class="rail" aria-label="Screens">
        <a class="brand" href="/">
          <Mark />
          berth
        </a>
        <button type="button" class="seek" onClick={openPalette}>
          Go to… <kbd>⌘K</kbd>
        </button>
        <Ways />
        <div class="foot">
          <Link />
          <Viewer />
          <ThemeChoice />
          <TimeChoice />
        </div>
      </nav>
      {children}
      <nav class="bottom" aria-label="Screens">
        {listed
          .filter(({ nav }) => nav === "main")
          .map(({ path: href, title }) => (
            <a key={href} href={href} aria-current={isHere(href) ? "page" : undefined}>
              {title}
            </a>
          ))}
        <button type="button" aria-current={isUnderMore() ? "page" : undefined} onClick={openPalette}>
          More
        </button>
      </nav>
    </div>
  );
}

function Ways() {
  return (
    <div class="ways">
      {listed.map(({ path: href, title, key }) => (
        <a
          key={href}
          href={href}
          aria-current={isHere(href) ? "page" : undefined}
          title={key === undefined ? undefined : `g then ${key}`}
        >
          {title}
        </a>
      ))}
    </div>
  );
}

function isHere(href: string): boolean {
  return href === "/" ? path.value === "/" || path.value.startsWith("/apps/") : path.value.startsWith(href);
}

/** On a phone, screens without a place of their own below are behind More. */
const isUnderMore = () => !listed.some(({ nav, path: href }) => nav === "main" && isHere(href));

/** Whether the page is live; if not, how old it is. */
function Link() {
  if (connection.value === "live" && staleText.value === undefined) return <State tone="good" text="Live" />;
  if (connection.value === "connecting") return <State tone="work" text="Connecting" />;
  if (connection.value === "ended") return <State tone="bad" text="Signed out" />;
  return <State tone="warn" text={["Reconnecting", heardText.value].filter(Boolean).join(", ")} />;
}

/** Whose session this is, and the way out of it. */
function Viewer() {
  if (session.value.state !== "in") return null;
  const { name, id } = session.value.who;
  return (
    <span class="row between">
      <span class="cut" title={`token ${id}`}>
        {name ?? id}
      </span>
      <button type="button" class="plain" onClick={() => void leave()}>
        Sign out
      </button>
    </span>
  );
}

function TimeChoice() {
  return (
    <select
      class="input"
      aria-label="Times"
      value={isExact.value ? "exact" : "ago"}
      onChange={(event) => chooseTimes(event.currentTarget.value === "exact")}
    >
      <option value="ago">Times: 5 min ago</option>
      <option value="exact">Times: exact</option>
    </select>
  );
}

function ThemeChoice() {
  return (
    <select
      class="input"
      aria-label="Colours"
      value={theme.value}
      onChange={(event) => {
        const { value } = event.currentTarget;
        if (value === "light" || value === "dark" || value === "system") chooseTheme(value);
      }}
    >
      <option value="system">System colours</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </select>
  );
}
