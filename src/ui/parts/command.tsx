import { useState } from "preact/hooks";
import { Button } from "./button.tsx";

const shownMs = 1_500;

/** The command that does the same as the page, to copy. */
export function Command({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), shownMs);
  };
  return (
    <footer class="command">
      <span class="faint" aria-hidden="true">
        $
      </span>
      <code>{text}</code>
      <Button look="bare" onClick={() => void copy()}>
        {copied ? "Copied" : "Copy"}
      </Button>
    </footer>
  );
}
