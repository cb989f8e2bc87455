import type { Tone } from "../text/states.ts";

/** One shape per tone, so that a state is visible without colour too. */
const shapes: Record<Tone, string> = {
  good: "M5 1a4 4 0 1 0 0 8a4 4 0 0 0 0-8z",
  work: "M5 1a4 4 0 0 0 0 8z M5 2a3 3 0 0 1 0 6v1a4 4 0 0 0 0-8z",
  warn: "M5 .6L9.400 5L5 9.400L.6 5z",
  bad: "M5 .8L9.600 9H.4z",
  idle: "M1.500 4h7v2h-7z",
};

/** A state as a shape and a word. */
export function State({ tone, text, title }: { tone: Tone; text: string; title?: string }) {
  return (
    <span class={`state ${tone}`} title={title}>
      <svg viewBox="0 0 10 10" aria-hidden="true">
        <path d={shapes[tone]} fill="currentColor" />
      </svg>
      {text}
    </span>
  );
}

export function Badge({ tone = "idle", text }: { tone?: Tone; text: string }) {
  return <span class={`badge ${tone}`}>{text}</span>;
}
