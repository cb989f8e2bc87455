import { close, shown } from "../data/notices.ts";
import { Button } from "./button.tsx";

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
