import { useEffect } from "preact/hooks";
import { connection } from "./data/connection.ts";
import { startLive } from "./data/live.ts";
import { watchOperations } from "./data/operations.ts";
import { askWho, session } from "./data/session.ts";
import { entries } from "./entries.ts";
import { gallery } from "./gallery.ts";
import { Frame } from "./frame/frame.tsx";
import { Outlet } from "./frame/outlet.tsx";
import { signInPath } from "../observability/api/sessions.ts";
import { path } from "./browser/router.ts";
import { SignIn } from "./frame/sign-in.tsx";
import { Button } from "./parts/button.tsx";
import { ActionDialog } from "./parts/dialog.tsx";
import { Empty, Loading } from "./parts/notes.tsx";
import { LineDialog } from "./parts/log-line.tsx";
import { Palette } from "./parts/palette.tsx";
import { Toasts } from "./parts/toasts.tsx";

/** Needs no server. */
const isOpenPath = (path: string) => gallery.some((screen) => screen.path === path);

export function App() {
  useEffect(() => {
    if (!isOpenPath(path.peek()) && path.peek() !== signInPath) void enter();
  }, []);
  const isOpen = isOpenPath(path.value);
  const isLink = path.value === signInPath;
  const isOut = session.value.state === "out" || connection.value === "ended";
  if (isLink || (isOut && !isOpen)) {
    return (
      <SignIn
        ended={session.value.state === "in" && !isLink}
        onEntered={() => (isLink ? location.replace("/") : location.reload())}
      />
    );
  }
  return (
    <>
      <Frame>{isOpen || session.value.state === "in" ? <Outlet /> : <Waiting />}</Frame>
      <ActionDialog />
      <LineDialog />
      <Palette entries={entries} />
      <Toasts />
    </>
  );
}

async function enter(): Promise<void> {
  if (!(await askWho())) return;
  watchOperations();
  await startLive();
}

/** Until it is known who looks. */
function Waiting() {
  return (
    <main class="page">
      {session.value.state === "fault" ? (
        <Empty title="The server does not answer">
          <p>{session.value.text}</p>
          <Button onClick={() => void enter()}>Try again</Button>
        </Empty>
      ) : (
        <Loading label="the page" />
      )}
    </main>
  );
}
