import { writtenOut } from "../basics/style.ts";

/** Takes out of a stream of text what could drive the terminal that it is shown on, or is shown on later. */
export interface HarmlessBytes {
  /** What can be shown so far: the begin of a sequence waits for its end. */
  push(chunk: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

/** Colours go, a carriage return alone becomes a line end, and all other controls are written out. Other bytes stay as they are. */
export function createHarmlessBytes(): HarmlessBytes {
  let held = "";
  return {
    push(chunk) {
      // Each byte is a character here.
      const text = held + Buffer.from(chunk).toString("latin1");
      held = unfinished.exec(text)?.[0] ?? "";
      return bytesOf(text.slice(0, text.length - held.length));
    },
    end() {
      const rest = bytesOf(held);
      held = "";
      return rest;
    },
  };
}

/** Bytes of a terminal sequence, of a control character of two bytes, or of a line end that is cut. */
const unfinished = /(?:\r|\xc2|\x1b(?:\[[\d;:]{0,32})?)$/;
const colour = /\x1b\[[\d;:]{0,32}m/g;
const returned = /\r(?!\n)/g;
/** The byte C2 begins a character, so it is never the middle of another one. */
const driving = /\xc2([\x80-\x9f])|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

function bytesOf(text: string): Uint8Array {
  const calm = text
    .replace(colour, "")
    .replace(returned, "\n")
    .replace(driving, (found, second: string | undefined) => writtenOut(second ?? found));
  return Buffer.from(calm, "latin1");
}

/** One text on its own. */
export function harmlessText(text: string): string {
  const door = createHarmlessBytes();
  return Buffer.concat([door.push(Buffer.from(text)), door.end()]).toString();
}
