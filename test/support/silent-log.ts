import { createLog, type Log } from "../../src/base/words/log.ts";

export const silentLog: Log = createLog(() => undefined, "error");
