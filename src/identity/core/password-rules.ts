import { isCommonPassword } from "./common-passwords.ts";
import { normaliseEmail } from "./email.ts";
import { passwordText } from "./password-text.ts";

interface PasswordInput {
  /** As it was typed. */
  password: string;
  /** As it is stored. */
  email: string;
  /** Characters. */
  lengthMin: number;
  bytesMax: number;
}

type PasswordProblem = "password_short" | "password_long" | "password_email" | "password_common";

/**
 * What is wrong with a new password: its length, or that it is what guessers try first; not what it is made of (NIST
 * SP 800-63B section 3.1.1). Passwords that exist are not asked.
 */
export function passwordProblem({
  password: typed,
  email,
  lengthMin,
  bytesMax,
}: PasswordInput): PasswordProblem | undefined {
  const password = passwordText(typed);
  if (new TextEncoder().encode(password).length > bytesMax) return "password_long";
  if ([...password].length < lengthMin) return "password_short";
  const plain = password.trim().toLowerCase();
  if (normaliseEmail(plain) === email || plain === email.slice(0, email.lastIndexOf("@"))) return "password_email";
  return isCommonPassword(password) ? "password_common" : undefined;
}
