import { isPasswordHash, passwordHashForm } from "../../../base/pure/password-hash.ts";
import { childPath } from "../../../base/pure/path.ts";
import { hasControlCharacters } from "./header-name.ts";
import type { RuleContext } from "./rule.ts";

const userPattern = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/;
const passwordLengthMax = 128;

/** Rules of `basic_auth`. Passwords and hashes are never repeated. */
export function passwordRules(users: Record<string, string> | undefined, { report, limits }: RuleContext): void {
  const entries = Object.entries(users ?? {});
  const most = limits.ingress.usersMax;
  if (users !== undefined && entries.length === 0) report("spec.basic_auth", "has no user; name one, or leave it out");
  if (entries.length > most) report("spec.basic_auth", `has ${entries.length} users; at most ${most} are allowed`);
  for (const [user, password] of entries) {
    const path = childPath("spec.basic_auth", user);
    if (!userPattern.test(user)) {
      report(
        "spec.basic_auth",
        `"${user}" is not a user name; use up to 64 letters, digits, ".", "_", "@", "+" and "-"`,
      );
    }
    if (password === "") report(path, "the password is empty");
    else if (password.startsWith("$")) {
      if (!isPasswordHash(password))
        report(path, `begins with "$" and is not a hash that the ingress knows; ${passwordHashForm}`);
    } else if (password.length > passwordLengthMax) {
      report(path, `the password has more than ${passwordLengthMax} characters`);
    } else if (hasControlCharacters(password)) report(path, "the password holds a control character");
  }
}
