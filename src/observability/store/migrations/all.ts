import { first } from "./0001-first.ts";
import { sessions } from "./0002-sessions.ts";
import { alertTables } from "./0003-alerts.ts";
import { logDrains } from "./0004-log-drains.ts";
import { people } from "./0005-people.ts";
import { savedThings } from "./0006-saved.ts";
import { messageOrder } from "./0007-message-order.ts";
import { refusedLines } from "./0008-refused-lines.ts";

/** In order and for ever: a released migration is never edited, a change is a new file. */
export const observabilityMigrations: readonly string[] = [
  first,
  sessions,
  alertTables,
  logDrains,
  people,
  savedThings,
  messageOrder,
  refusedLines,
];
