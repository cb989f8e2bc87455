import { ask } from "../parts/dialog.tsx";
import { openPalette } from "../parts/palette.tsx";
import { screens } from "../screens.ts";
import { go } from "../browser/router.ts";

const chordMs = 1_200;

/** ⌘K or Ctrl-K, and `/`, open the palette; `g` and a letter open a screen; j and k go through a list; ? tells them. */
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
    else if (event.key === "?") showKeys();
    else if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
    else return;
    event.preventDefault();
  });
}

/** To the link of the next or the previous row; Enter opens it. */
function step(by: 1 | -1): void {
  const rows = [...document.querySelectorAll("main tbody tr, main .tile, main .problems > li")];
  const links = rows.flatMap((row) => (row.matches("a") ? row : row.querySelector("a[href]")) ?? []);
  const here = links.findIndex((link) => link === document.activeElement);
  const next = links[here === -1 && by === -1 ? links.length - 1 : here + by];
  if (next instanceof HTMLElement) next.focus();
}

function showKeys(): void {
  const chords = screens.flatMap(({ key, title }) => (key === undefined ? [] : [[`g ${key}`, title]]));
  const keys = [
    ["⌘K or /", "Go to anything, and do anything"],
    ["j and k", "The next and the previous row of a list; Enter opens it"],
    ["?", "These keys"],
    ["Escape", "Close what asks a question"],
    ...chords,
  ];
  ask({
    title: "Keys",
    effects: [],
    body: () => (
      <dl class="facts">
        {keys.map(([key, text]) => (
          <>
            <dt key={key}>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </>
        ))}
      </dl>
    ),
  });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
