import { linkCommand } from "../../kit/link.ts";
import { passwordKey } from "../keys.ts";
import { postgresKind } from "../server.ts";

/** `link SCOPE/NAME SCOPE/APP [--database D]`. */
export const link = linkCommand({
  kind: postgresKind,
  key: "DATABASE_URL",
  accountOf(values, { env: { PG_USER: first = "", PG_DATABASE: database = "" } }) {
    const user = values.user ?? first;
    return { user, passwordKey: passwordKey(user, first), database: values.database ?? database };
  },
});
