import { wholeNumber } from "../../kit/arguments.ts";
import { linkCommand } from "../../kit/link.ts";
import { firstUser, passwordKey } from "../keys.ts";
import { redisKind } from "../server.ts";

/** `link SCOPE/NAME SCOPE/APP [--database N]`. */
export const link = linkCommand({
  kind: redisKind,
  key: "REDIS_URL",
  accountOf({ user = firstUser, database }) {
    return { user, passwordKey: passwordKey(user), database: String(wholeNumber(database, "database") ?? 0) };
  },
});
