import { Component, type ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Empty, Loading } from "../parts/notes.tsx";
import { screens } from "../screens.ts";
import { Page } from "./page.tsx";
import { loadPart } from "../browser/part.ts";
import { matchPath } from "../browser/paths.ts";
import { path } from "../browser/router.ts";
import type { Screen, ScreenProps } from "./screen.ts";

const loaded = new Map<Screen["load"], ComponentType<ScreenProps>>();

/** The screen of the address. */
export function Outlet() {
  for (const screen of screens) {
    const params = matchPath(screen.path, path.value);
    if (params !== undefined) return <Open key={keyOf(screen, params)} screen={screen} params={params} />;
  }
  return (
    <Page title="No such page" command="berth ui">
      <Empty title={`Nothing is at ${path.value}`}>
        <a href="/">To the overview</a>
      </Empty>
    </Page>
  );
}

/** The tabs of one app are one screen, which keeps what it has loaded. */
function keyOf(screen: Screen, { tab: _, ...params }: Record<string, string>): string {
  return [screen.title, ...Object.values(params)].join("/");
}

function Open({ screen, params }: { screen: Screen; params: Record<string, string> }) {
  const [fault, setFault] = useState(false);
  const [, setReady] = useState(false);
  const Shown = loaded.get(screen.load);
  useEffect(() => {
    if (loaded.has(screen.load)) return;
    loadPart(screen.load).then(
      (module) => {
        loaded.set(screen.load, module.Screen);
        setReady(true);
      },
      () => setFault(true),
    );
  }, [screen]);
  if (fault) return <Outdated />;
  if (Shown === undefined) {
    return (
      <main class="page">
        <Loading label={screen.title} />
      </main>
    );
  }
  return (
    <Guard>
      <Shown params={params} />
    </Guard>
  );
}

/** Files of this page are gone: the server was upgraded while it was open, or cannot be reached. */
function Outdated() {
  return (
    <Page title="This page is from another version" command="berth ui">
      <Empty title="The server was upgraded, or cannot be reached">
        <Button look="main" onClick={() => location.reload()}>
          Load again
        </Button>
      </Empty>
    </Page>
  );
}

/** A screen that fails does not take the others with it. */
class Guard extends Component<Record<never, never>, { fault?: string }> {
  static override getDerivedStateFromError(error: unknown) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }

  render() {
    if (this.state.fault === undefined) return this.props.children;
    return (
      <Page title="This screen failed" command="berth ui">
        <Empty title="A fault of the web UI, not of your apps">
          <p class="mono">{this.state.fault}</p>
          <Button onClick={() => location.reload()}>Load again</Button>
        </Empty>
      </Page>
    );
  }
}
