import { Frame } from "./frame/frame.tsx";
import { Outlet } from "./frame/outlet.tsx";
import { ActionDialog } from "./parts/dialog.tsx";
import { Palette } from "./parts/palette.tsx";
import { Toasts } from "./parts/toasts.tsx";
import { entries } from "./entries.ts";

export function App() {
  return (
    <>
      <Frame>
        <Outlet />
      </Frame>
      <ActionDialog />
      <Palette entries={entries} />
      <Toasts />
    </>
  );
}
