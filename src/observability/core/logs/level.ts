import { levelOfJson } from "./level-json.ts";
import { levelOfText } from "./level-text.ts";
import type { Level } from "./line.ts";

/** rsyslog and others mark JSON within a line so. */
const cookie = "@cee:";

/** The level that a line says, in JSON, logfmt, klog, syslog, as the beginning of a trace, or as a word near its beginning. */
export function levelOf(text: string): Level {
  if (text.startsWith("{")) return levelOfJson(text);
  if (text.startsWith(cookie) && text.includes("{")) return levelOfJson(text, text.indexOf("{"));
  return levelOfText(text);
}
