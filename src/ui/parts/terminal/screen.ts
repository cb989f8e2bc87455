import { FitAddon } from "@xterm/addon-fit";
import { type ITheme, Terminal } from "@xterm/xterm";

/**
 * xterm adds <style> elements and style attributes, which the policy of the pages refuses. The same rules are allowed as
 * style sheets and properties that a script makes. While a terminal is on the page, the document therefore makes `style`
 * elements that fill such a sheet, and `span` elements that set a style attribute property by property. Returns what ends it.
 */
function ownElements(): () => void {
  terminals += 1;
  document.createElement = createElement as typeof document.createElement;
  return () => {
    terminals -= 1;
    if (terminals === 0) Reflect.deleteProperty(document, "createElement");
  };
}

let terminals = 0;

function createElement(tag: string, options?: ElementCreationOptions): HTMLElement {
  if (tag === "style") return sheetElement();
  const element = Document.prototype.createElement.call(document, tag, options);
  if (tag === "span") element.setAttribute = setAttribute;
  return element;
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === "style") this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}

/** Stands for a <style> element: its text becomes a sheet of the document, until it is removed. */
function sheetElement(): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const element = Document.prototype.createElement.call(document, "i");
  element.hidden = true;
  Object.defineProperty(element, "textContent", { set: (text: string) => sheet.replaceSync(text) });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}

interface ScreenEvents {
  onInput: (text: string) => void;
  onSize: (size: { cols: number; rows: number }) => void;
  /** Text with line ends is about to be pasted: each line would run. */
  onManyLines: (text: string, paste: () => void) => void;
}

/** A terminal on the page. */
export interface Screen {
  write(bytes: Uint8Array): void;
  size(): { cols: number; rows: number };
  focus(): void;
  /** Tells a screen reader what is printed; input methods of phones need it off. */
  readAloud(on: boolean): void;
  /** Takes the colours of the page as they are now. */
  colour(): void;
  close(): void;
}

const keptLines = 5_000;
const textPx = 13;
/** Output that is not drawn yet. A page cannot make the server wait, so that more than this is left out. */
const waitingBytesMax = 4 * 1024 * 1024;

export function createScreen(place: HTMLElement, { onInput, onSize, onManyLines }: ScreenEvents): Screen {
  const terminal = new Terminal({
    ...{ scrollback: keptLines, fontSize: textPx, cursorBlink: true },
    ...{ fontFamily: token("--mono"), theme: colours(), minimumContrastRatio: 4.5 },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  const release = ownElements();
  terminal.open(place);
  terminal.textarea?.setAttribute("aria-label", "Terminal. Shift and Tab lead out of it");
  terminal.onData(onInput);
  terminal.onResize(onSize);
  terminal.attachCustomKeyEventHandler((event) => takesKey(terminal, event));
  const paste = (event: ClipboardEvent) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!/[\r\n]/.test(text)) return;
    event.preventDefault();
    event.stopPropagation();
    onManyLines(text, () => terminal.paste(text));
  };
  place.addEventListener("paste", paste, true);
  const watch = new ResizeObserver(() => fit.fit());
  watch.observe(place);
  fit.fit();
  return {
    write: createWriter(terminal),
    size: () => ({ cols: terminal.cols, rows: terminal.rows }),
    focus: () => terminal.focus(),
    readAloud(on) {
      terminal.options.screenReaderMode = on;
    },
    colour() {
      terminal.options.theme = colours();
    },
    close() {
      watch.disconnect();
      place.removeEventListener("paste", paste, true);
      terminal.dispose();
      release();
    },
  };
}

function createWriter(terminal: Terminal): (bytes: Uint8Array) => void {
  let waiting = 0;
  let leftOut = 0;
  return (bytes) => {
    if (waiting > waitingBytesMax) {
      leftOut += bytes.length;
      return;
    }
    if (leftOut > 0) terminal.write(`\r\n[${leftOut} bytes came too fast to show]\r\n`);
    leftOut = 0;
    waiting += bytes.length;
    terminal.write(bytes, () => {
      waiting -= bytes.length;
    });
  };
}

/** False for a key that the browser gets. Shift and Tab lead out, since Tab itself belongs to the shell. */
function takesKey(terminal: Terminal, event: KeyboardEvent): boolean {
  if (event.key === "Tab" && event.shiftKey) return false;
  const isCopy = event.ctrlKey && event.shiftKey && event.key.toLowerCase() === "c";
  if (!isCopy) return true;
  event.preventDefault();
  if (event.type === "keydown") void navigator.clipboard?.writeText(terminal.getSelection());
  return false;
}

const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Colours of tokens.css by their meaning: what a program calls red is what is bad here. */
function colours(): ITheme {
  const [ink, soft, faint, sunk, accent] = ["--ink", "--soft", "--faint", "--sunk", "--accent"].map(token);
  const [bad, good, warn, work, rare] = ["--bad", "--good", "--warn", "--work", "--rare"].map(token);
  const theme = {
    ...{ background: sunk, foreground: ink, cursor: accent, cursorAccent: sunk },
    ...{ selectionBackground: token("--accent-paper"), selectionForeground: ink },
    ...{ black: faint, red: bad, green: good, yellow: warn, blue: work, magenta: rare, cyan: accent, white: soft },
    ...{ brightBlack: soft, brightRed: bad, brightGreen: good, brightYellow: warn, brightBlue: work },
    ...{ brightMagenta: rare, brightCyan: accent, brightWhite: ink },
    ...{ scrollbarSliderBackground: token("--line"), scrollbarSliderHoverBackground: token("--edge") },
    ...{ scrollbarSliderActiveBackground: token("--edge") },
  };
  return Object.fromEntries(Object.entries(theme).filter(([, colour]) => colour !== undefined && colour !== ""));
}
