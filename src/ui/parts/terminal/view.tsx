import { useEffect, useRef, useState } from "preact/hooks";
import { type Line, openLine, type Place } from "../../data/terminal.ts";
import { loadPart } from "../../browser/part.ts";
import { isDark } from "../../browser/theme.ts";
import { many } from "../../text/figures.ts";
import { previewOf } from "../../text/shell.ts";
import { Button } from "../button.tsx";
import { ask } from "../dialog.tsx";
import { Note } from "../notes.tsx";
import { State } from "../state.tsx";
import type { Screen } from "./screen.ts";

interface TerminalViewProps {
  place: Place;
  command: readonly string[];
  /** Where it runs, for people. */
  label: string;
  /** The command line that does the same. */
  same: string;
  onAgain: () => void;
}

type Stage = "opening" | "open" | { exitCode: number } | { fault: string };

/** Keys that a phone has not. */
const keys: readonly (readonly [string, string])[] = [
  ["Esc", "\u001b"],
  ["Tab", "\t"],
  ["Ctrl-C", "\u0003"],
  ["Ctrl-D", "\u0004"],
  ["↑", "\u001b[A"],
  ["↓", "\u001b[B"],
];

/** One session, from its opening to its end; what was printed stays to be read. */
export function TerminalView({ place, command, label, same, onAgain }: TerminalViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const after = useRef<HTMLParagraphElement>(null);
  const screen = useRef<Screen | undefined>(undefined);
  const line = useRef<Line | undefined>(undefined);
  const [stage, setStage] = useState<Stage>("opening");
  useEffect(() => {
    let isGone = false;
    const open = async () => {
      const { createScreen } = await loadPart(() => import("./screen.ts"));
      if (isGone || box.current === null) return;
      const made = createScreen(box.current, {
        onInput: (text) => line.current?.type(text),
        onSize: (size) => line.current?.resize(size),
        onManyLines: (text, paste) => askPaste(text, { label, same, paste, focus: () => screen.current?.focus() }),
      });
      screen.current = made;
      line.current = openLine(
        { place, command, size: made.size() },
        {
          onOpen() {
            setStage("open");
            made.focus();
          },
          onOutput: (bytes) => made.write(bytes),
          onEnd: setStage,
        },
      );
    };
    open().catch(() => setStage({ fault: "The files of the terminal are from another version. Load the page again." }));
    return () => {
      isGone = true;
      line.current?.close();
      screen.current?.close();
    };
  }, []);
  const [aloud, setAloud] = useState(false);
  useEffect(() => screen.current?.readAloud(aloud), [aloud]);
  const dark = isDark.value;
  useEffect(() => screen.current?.colour(), [dark]);
  const type = (text: string) => {
    line.current?.type(text);
    screen.current?.focus();
  };
  const isOver = typeof stage === "object";
  return (
    <>
      <div class="row between">
        <Status stage={stage} label={label} />
        <span class="row">
          <span class="skip">
            <Button look="bare" onClick={() => after.current?.focus()}>
              Skip the terminal
            </Button>
          </span>
          <label class="row flat small">
            <input type="checkbox" checked={aloud} onChange={() => setAloud(!aloud)} />
            Screen reader
          </label>
          {isOver ? (
            <Button look="main" onClick={onAgain}>
              Open again
            </Button>
          ) : (
            <Button onClick={() => line.current?.hangUp()}>End</Button>
          )}
        </span>
      </div>
      {isOver && "fault" in stage ? <Note tone="bad">{stage.fault}</Note> : null}
      <div class="terminal-box" role="group" aria-label={`Terminal in ${label}`} ref={box} />
      <div class="row touch-keys">
        {keys.map(([name, text]) => (
          <Button key={name} disabled={isOver} onClick={() => type(text)}>
            {name}
          </Button>
        ))}
      </div>
      <p class="small soft" tabIndex={-1} ref={after}>
        <kbd>Shift</kbd> <kbd>Tab</kbd> leads out of the terminal; <kbd>Ctrl</kbd> <kbd>Shift</kbd> <kbd>C</kbd> copies.
        The session ends when you leave this page, after 30 minutes in which nothing moves, and with your sign-in.
      </p>
    </>
  );
}

function Status({ stage, label }: { stage: Stage; label: string }) {
  if (stage === "opening") return <State tone="work" text={`Opening ${label}`} />;
  if (stage === "open") return <State tone="good" text={`Open in ${label}`} />;
  if ("fault" in stage) return <State tone="bad" text="Ended" />;
  const { exitCode } = stage;
  return <State tone={exitCode === 0 ? "good" : "warn"} text={`Ended with exit code ${exitCode}`} />;
}

/** A shell runs each line as soon as it is there, also those that the viewer did not see on the page that they come from. */
function askPaste(
  text: string,
  { label, same, paste, focus }: { label: string; same: string; paste: () => void; focus: () => void },
): void {
  const { lines, more } = previewOf(text);
  const count = lines.length + more;
  ask({
    title: count === 1 ? "Paste a line with its end" : `Paste ${many(count, "line")}`,
    effects: [{ text: `A shell in ${label} runs ${count === 1 ? "it" : "each of them"} at once` }],
    body: () => (
      <pre class="paste">
        {lines.join("\n")}
        {more === 0 ? "" : `\n… ${many(more, "more line")}`}
      </pre>
    ),
    verb: "Paste",
    command: same,
    run: async () => {
      paste();
      setTimeout(focus);
    },
  });
}
