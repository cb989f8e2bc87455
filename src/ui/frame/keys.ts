import { openPalette } from "../parts/palette.tsx";
import { screens } from "../screens.ts";
import { go } from "../browser/router.ts";

const chordMs = 1_200;

/** ⌘K or Ctrl-K, and `/`, open the palette; `g` and a letter open a screen. */
export function listenToKeys(): void {
  let chordAt = 0;
  document.addEventListener("keydown", (event) => {
    // What asks a question stays until it is answered.
    if (document.querySelector("dialog[open]") !== null) return;
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      openPalette();
      return;
    }
    if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
    const screen = event.timeStamp - chordAt < chordMs ? screens.find(({ key }) => key === event.key) : undefined;
    chordAt = event.key === "g" ? event.timeStamp : 0;
    if (screen !== undefined) go(screen.path);
    else if (event.key === "/") openPalette();
    else return;
    event.preventDefault();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
