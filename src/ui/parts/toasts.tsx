import { signal } from "@preact/signals";
import { Button } from "./button.tsx";

interface Toast {
  id: number;
  tone?: "bad" | "work";
  text: string;
}

const shown = signal<readonly Toast[]>([]);
const shownMax = 4;
const shownMs = 8_000;
let last = 0;

/** Says something in the corner. What is bad stays until it is closed. */
export function say(text: string, tone?: "bad" | "work"): void {
  last += 1;
  const toast: Toast = { id: last, text, ...(tone === undefined ? {} : { tone }) };
  shown.value = [...shown.value, toast].slice(-shownMax);
  if (tone !== "bad") setTimeout(() => close(toast.id), shownMs);
}

function close(id: number): void {
  shown.value = shown.value.filter((toast) => toast.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="log" aria-live="polite" aria-label="Messages">
      {shown.value.map(({ id, text, tone }) => (
        <div key={id} class={tone === undefined ? "note" : `note ${tone}`}>
          <span>{text}</span>
          <Button look="bare" onClick={() => close(id)}>
            Close
          </Button>
        </div>
      ))}
    </div>
  );
}
