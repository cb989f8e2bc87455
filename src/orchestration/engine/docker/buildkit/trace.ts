import { wireFields } from "./protobuf.ts";

/** Fields of `StatusResponse`, `Vertex` and `VertexLog`. Source: moby/buildkit, api/services/control/control.proto. */
const status = { vertexes: 1, logs: 3 };
const vertexField = { digest: 1, name: 3, cached: 4, started: 5 };
const logField = { vertex: 1, message: 4 };

/** What BuildKit does for itself. */
const innerStep = /^(?:\[internal\]|copy \/context )/;

/** A longer line is handed on before its end. */
const lineLengthMax = 64 * 1024;

interface TraceText {
  /** Takes a report, and hands out the lines that are whole now. */
  read(base64: string): string;
  /** What has no line end, at the end of the build. */
  rest(): string;
}

/**
 * Turns the progress that BuildKit reports into the text of a build log: the name of each step once it starts, and what
 * the step prints. A report can end inside of a line, or of a character, and steps of stages that are built beside each
 * other speak in turn: the lines of each are put together by themselves, so that a secret in one is found.
 */
export function createTraceText(): TraceText {
  const told = new Set<string>();
  const speakers = new Map<string, { decoder: TextDecoder; line: string }>();

  const linesOf = (who: string, bytes: Uint8Array): string => {
    const speaker = speakers.get(who) ?? { decoder: new TextDecoder(), line: "" };
    speakers.set(who, speaker);
    const text = speaker.line + speaker.decoder.decode(bytes, { stream: true });
    const end = text.length > lineLengthMax ? text.length : text.lastIndexOf("\n") + 1;
    speaker.line = text.slice(end);
    return text.slice(0, end);
  };

  return {
    read(base64) {
      let text = "";
      for (const field of wireFields(Buffer.from(base64, "base64"))) {
        if (!("bytes" in field)) continue;
        if (field.number === status.vertexes) {
          const step = readStep(field.bytes);
          if (!step.started || told.has(step.digest) || innerStep.test(step.name)) continue;
          told.add(step.digest);
          text += `${step.name}${step.cached ? " (cached)" : ""}\n`;
        }
        if (field.number === status.logs) {
          const { vertex, message } = readLog(field.bytes);
          text += linesOf(vertex, message);
        }
      }
      return text;
    },
    rest() {
      const lines = [...speakers.values()].map(({ decoder, line }) => line + decoder.decode());
      speakers.clear();
      return lines.map((line) => (line === "" ? "" : `${line}\n`)).join("");
    },
  };
}

function readStep(bytes: Uint8Array) {
  const step = { digest: "", name: "", cached: false, started: false };
  for (const field of wireFields(bytes)) {
    if (field.number === vertexField.started) step.started = true;
    if (field.number === vertexField.cached && "value" in field) step.cached = field.value !== 0;
    if (!("bytes" in field)) continue;
    if (field.number === vertexField.digest) step.digest = textOf(field.bytes);
    if (field.number === vertexField.name) step.name = textOf(field.bytes);
  }
  return step;
}

function readLog(bytes: Uint8Array) {
  const log: { vertex: string; message: Uint8Array } = { vertex: "", message: new Uint8Array() };
  for (const field of wireFields(bytes)) {
    if (!("bytes" in field)) continue;
    if (field.number === logField.vertex) log.vertex = textOf(field.bytes);
    if (field.number === logField.message) log.message = field.bytes;
  }
  return log;
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
