import { isFields } from "../../../base/pure/fields.ts";
import { levelOf } from "../logs/level.ts";
import type { Level, LogSource, NewLine } from "../logs/line.ts";
import type { OtlpLogs, OtlpRecord } from "./model.ts";
import { msOfNanos, plainFields, plainValue } from "./values.ts";

interface LineParts {
  source: LogSource;
  now: number;
  limits: { lineCharactersMax: number; ageMs: number; aheadMs: number };
}

/** Log records as lines of the store: their body alone, or JSON of it with the attributes and the trace. */
export function linesOf(request: OtlpLogs, parts: LineParts): NewLine[] {
  const lines: NewLine[] = [];
  for (const { scopeLogs = [] } of request.resourceLogs ?? [])
    for (const { scope, logRecords = [] } of scopeLogs)
      for (const record of logRecords) lines.push(lineOf(record, scope?.name ?? "", parts));
  return lines;
}

function lineOf(record: OtlpRecord, logger: string, { source, now, limits }: LineParts): NewLine {
  const text = textOf(record, logger).slice(0, limits.lineCharactersMax);
  const said = msOfNanos(record.timeUnixNano) || msOfNanos(record.observedTimeUnixNano);
  // The clock of the app may be wrong, and what is too old would be deleted at once.
  const isKnown = said > now - limits.ageMs && said <= now + limits.aheadMs;
  return { at: isKnown ? said : now, source, stream: "otlp", level: levelIn(record, text), text };
}

function textOf({ body, attributes, traceId = "", spanId = "", eventName = "" }: OtlpRecord, logger: string): string {
  const plain = plainValue(body);
  const fields = {
    ...(isFields(plain) ? plain : plain === null ? {} : { message: plain }),
    ...plainFields(attributes),
    ...(eventName === "" ? {} : { event_name: eventName }),
    ...(logger === "" ? {} : { logger }),
    ...(traceId === "" ? {} : { trace_id: traceId }),
    ...(spanId === "" ? {} : { span_id: spanId }),
  };
  const isAlone = typeof plain === "string" && Object.keys(fields).length === 1;
  return isAlone && !/[\r\n]/.test(plain) ? plain : JSON.stringify(fields);
}

/** OTLP has four numbers for each level, from 1 on. */
const bySeverity: readonly Level[] = ["trace", "debug", "info", "warn", "error", "fatal"];

function levelIn({ severityNumber = 0, severityText = "" }: OtlpRecord, text: string): Level {
  const level = bySeverity[Math.floor((severityNumber - 1) / 4)];
  if (level !== undefined) return level;
  return levelOf(severityText === "" ? text : `level=${severityText}`);
}
