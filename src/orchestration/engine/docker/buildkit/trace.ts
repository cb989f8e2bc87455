import { wireFields } from "./protobuf.ts";

/** Fields of `StatusResponse`, `Vertex` and `VertexLog`. Source: moby/buildkit, api/services/control/control.proto. */
const status = { vertexes: 1, logs: 3 };
const vertexField = { digest: 1, name: 3, cached: 4, started: 5 };
const logField = { vertex: 1, message: 4 };

/** What BuildKit does for itself. */
const innerStep = /^(?:\[internal\]|copy \/context )/;

/**
 * Turns the progress that BuildKit reports into the text of a build log: the name of each step once it starts, and what
 * the step prints. Steps of stages that are built beside each other begin a line of their own.
 */
export function createTraceText(): (base64: string) => string {
  const told = new Set<string>();
  let speaker = "";
  let isInLine = false;

  const say = (who: string, text: string) => {
    if (text === "") return "";
    const lead = isInLine && who !== speaker ? "\n" : "";
    speaker = who;
    isInLine = !text.endsWith("\n");
    return lead + text;
  };

  return (base64) => {
    let text = "";
    for (const field of wireFields(Buffer.from(base64, "base64"))) {
      if (!("bytes" in field)) continue;
      if (field.number === status.vertexes) {
        const step = readStep(field.bytes);
        if (!step.started || told.has(step.digest) || innerStep.test(step.name)) continue;
        told.add(step.digest);
        text += say("", `${step.name}${step.cached ? " (cached)" : ""}\n`);
      }
      if (field.number === status.logs) {
        const { vertex, message } = readLog(field.bytes);
        text += say(vertex, message);
      }
    }
    return text;
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
  const log = { vertex: "", message: "" };
  for (const field of wireFields(bytes)) {
    if (!("bytes" in field)) continue;
    if (field.number === logField.vertex) log.vertex = textOf(field.bytes);
    if (field.number === logField.message) log.message = textOf(field.bytes);
  }
  return log;
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
