import { describe, expect, test } from "bun:test";
import { createTranscript, type Transcript } from "../../../../../src/orchestration/controller/state/transcript.ts";

/** Follows in the background; `text` is what has come so far. */
function reader(transcript: Transcript, signal = new AbortController().signal) {
  const state = { text: "", ended: false };
  const done = (async () => {
    const decoder = new TextDecoder();
    for await (const piece of transcript.follow(signal)) state.text += decoder.decode(piece, { stream: true });
    state.ended = true;
  })();
  return { state, done };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("a transcript", () => {
  test("has lines of its own, whatever the output before them ended with", async () => {
    const transcript = createTranscript(1_000);
    transcript.heading("one");
    transcript.write("no newline");
    transcript.heading("two");
    transcript.write("a line\n");
    transcript.heading("three");
    expect(transcript.text()).toBe("-----> one\nno newline\n-----> two\na line\n-----> three\n");
  });

  test("is read from its beginning, as it grows, to its end, by any number of readers", async () => {
    const transcript = createTranscript(1_000);
    transcript.write("one\n");
    const early = reader(transcript);
    await turn();
    expect(early.state).toEqual({ text: "one\n", ended: false });
    transcript.write("two\n");
    const late = reader(transcript);
    await turn();
    transcript.end();
    await Promise.all([early.done, late.done]);
    expect([early.state.text, late.state.text]).toEqual(["one\ntwo\n", "one\ntwo\n"]);
  });

  test("is read after its end all the same", async () => {
    const transcript = createTranscript(1_000);
    transcript.write("all");
    transcript.end();
    const { state, done } = reader(transcript);
    await done;
    expect(state.text).toBe("all");
    expect(transcript.ended).toBe(true);
  });

  test("takes nothing after its end", () => {
    const transcript = createTranscript(1_000);
    transcript.end();
    transcript.write("late");
    expect(transcript.text()).toBe("");
  });

  test("passes on bytes as they are, also those that are no text", async () => {
    const transcript = createTranscript(1_000);
    const output = new Uint8Array([0xef, 0xbb, 0xbf, 0xff, 0x00, 0xc3]);
    transcript.write(output);
    transcript.write(new Uint8Array([0xa4, 0x0d]));
    transcript.heading("x");
    transcript.end();
    const pieces: Uint8Array[] = [];
    for await (const piece of transcript.follow(new AbortController().signal)) pieces.push(piece);
    expect([...Buffer.concat(pieces)]).toEqual([...output, 0xa4, 0x0d, ...Buffer.from("\n-----> x\n")]);
    expect(transcript.text()).toBe("\ufeff\ufffd\0ä\r\n-----> x\n");
  });

  test("keeps the last characters of a flood, and no more", () => {
    const transcript = createTranscript(10);
    for (let line = 0; line < 10_000; line++) transcript.write(`${line % 10}`.repeat(7));
    transcript.write("end");
    expect(transcript.text()).toBe("9999999end");
  });

  test("a piece longer than all that is kept is cut", () => {
    const transcript = createTranscript(3);
    transcript.write("abcdef");
    expect(transcript.text()).toBe("def");
  });

  test("a reader that is further behind than what is kept misses what was dropped, and reads nothing twice", async () => {
    const transcript = createTranscript(4);
    transcript.write("ab");
    const pieces = transcript.follow(new AbortController().signal);
    expect((await pieces.next()).value).toEqual(Buffer.from("ab"));
    transcript.write("cdefgh");
    expect((await pieces.next()).value).toEqual(Buffer.from("efgh"));
    transcript.write("i");
    expect((await pieces.next()).value).toEqual(Buffer.from("i"));
    transcript.end();
    expect((await pieces.next()).done).toBe(true);
  });

  test("a reader that leaves stops waiting, the others go on", async () => {
    const transcript = createTranscript(100);
    const leaving = new AbortController();
    const gone = reader(transcript, leaving.signal);
    const stays = reader(transcript);
    await turn();
    leaving.abort();
    await gone.done;
    transcript.write("x");
    transcript.end();
    await stays.done;
    expect([gone.state.text, stays.state.text]).toEqual(["", "x"]);
  });
});
