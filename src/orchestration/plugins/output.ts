/** The last part of what a process says, and each of its lines as it comes. */
interface Tail {
  push(chunk: Uint8Array): void;
  text(): string;
}

const lineCharsMax = 4_096;

/** Bytes that are not UTF-8 become replacement characters: this is for people. */
export function createTail(bytesMax: number, onLine?: (line: string) => void): Tail {
  // Most plugins say nothing.
  let decoder: TextDecoder | undefined;
  let kept = "";
  let open = "";
  const tell = (text: string) => {
    const lines = (open + text).split("\n");
    open = (lines.pop() ?? "").slice(0, lineCharsMax);
    for (const line of lines) onLine?.(line.replace(/\r$/, "").slice(0, lineCharsMax));
  };
  return {
    push(chunk) {
      decoder ??= new TextDecoder();
      const text = decoder.decode(chunk, { stream: true });
      kept = kept.length + text.length > 2 * bytesMax ? (kept + text).slice(-bytesMax) : kept + text;
      if (onLine !== undefined) tell(text);
    },
    text: () => kept.slice(-bytesMax),
  };
}
