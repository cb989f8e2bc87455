import { createStyle, harmless, type Style } from "./style.ts";

/**
 * The operator's screen and keyboard. Answers go to stdout; questions, progress and errors to stderr. Whatever text they
 * are made of, nothing in it drives the terminal: see `harmless`.
 */
export interface Terminal {
  /** One answer line, or several. */
  out(text: string): void;
  /** The text as `out` writes it: for who draws on the screen in another way. */
  shown(text: string): string;
  /** Values that other programs read: only a terminal gets their harmless form, a pipe and a file get them as they are. */
  data(text: string): void;
  /** Resolves when the answer so far is out; rejects where stdout takes no more: what only shows something ends then. */
  flushed(): Promise<void>;
  /** One line for the operator alone. */
  note(text: string): void;
  /** Text on stderr that the cursor stays behind. */
  prompt(text: string): void;
  /** Colours of stdout. */
  style: Style;
  /** Colours of stderr. */
  noteStyle: Style;
  /** Columns of stdout; unlimited when it is not a terminal. */
  width: number;
  /** Columns for help. Where it goes to a pager, those of the screen that stderr shows; else a usual screen. */
  helpWidth: number;
  /** Somebody works here: stdin and stdout are terminals. */
  interactive: boolean;
  /** Somebody can be asked, also where stdout goes elsewhere. */
  asks: boolean;
  /** stderr can show a block that changes in place. */
  live: boolean;
  /** Shows these lines in place of the ones of the call before; notes in between come out above. */
  block(lines: readonly string[]): void;
  /** The next line of stdin; undefined at its end, or when the operator interrupts. */
  readLine(signal: AbortSignal): Promise<string | undefined>;
}

export interface Streams {
  flushed: () => Promise<void>;
  stdout: (text: string) => void;
  stderr: (text: string) => void;
  readLine: (signal: AbortSignal) => Promise<string | undefined>;
  stdinIsTerminal: boolean;
  stdoutIsTerminal: boolean;
  stderrIsTerminal: boolean;
  columns: () => number | undefined;
}

/** Also of a terminal that was never told its size. */
const columnsDefault = 80;

export function createTerminal(streams: Streams, colors: { stdout: boolean; stderr: boolean }): Terminal {
  let shown: readonly string[] = [];
  const columns = () => streams.columns() || columnsDefault;
  const draw = (lines: readonly string[]) => {
    if (lines.length === 0 && shown.length === 0) return;
    const up = shown.length === 0 ? "" : `\x1b[${shown.length}A\r`;
    // A line that wraps would count as two and break the way back up.
    const clipped = lines.map((line) => clip(harmless(line, colors.stderr), columns() - 1));
    streams.stderr(`${up}\x1b[J${clipped.map((line) => `${line}\n`).join("")}`);
    shown = lines;
  };
  const above = (write: () => void) => {
    const block = shown;
    draw([]);
    write();
    draw(block);
  };
  const shownText = (text: string) => harmless(text, colors.stdout);
  return {
    shown: shownText,
    out: (text) => above(() => streams.stdout(`${shownText(text)}\n`)),
    data: (text) => above(() => streams.stdout(`${streams.stdoutIsTerminal ? shownText(text) : text}\n`)),
    note: (text) => above(() => streams.stderr(`${harmless(text, colors.stderr)}\n`)),
    flushed: streams.flushed,
    prompt: (text) => streams.stderr(harmless(text, colors.stderr)),
    style: createStyle(colors.stdout),
    noteStyle: createStyle(colors.stderr),
    width: streams.stdoutIsTerminal ? columns() : Number.POSITIVE_INFINITY,
    helpWidth: streams.stdoutIsTerminal || streams.stderrIsTerminal ? columns() : helpWidthInFiles,
    interactive: streams.stdinIsTerminal && streams.stdoutIsTerminal,
    asks: streams.stdinIsTerminal && (streams.stdoutIsTerminal || streams.stderrIsTerminal),
    live: streams.stderrIsTerminal,
    block: (lines) => {
      if (streams.stderrIsTerminal) draw(lines);
    },
    readLine: streams.readLine,
  };
}

/** The widest line of help that no screen limits. */
const helpWidthInFiles = 100;

/** Text cut to `width` columns; colour codes take none. */
export function clip(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  return `${Bun.sliceAnsi(text, 0, Math.max(0, width - 1))}…`;
}
