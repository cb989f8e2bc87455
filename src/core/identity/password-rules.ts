export interface PasswordInput {
  password: string;
  email: string;
  /** Characters. */
  lengthMin: number;
  bytesMax: number;
}

export type PasswordProblem = "password_short" | "password_long" | "password_email";

/** What is wrong with a new password: length counts, not what it is made of (NIST SP 800-63B section 3.1.1). */
export function passwordProblem({ password, email, lengthMin, bytesMax }: PasswordInput): PasswordProblem | undefined {
  if (new TextEncoder().encode(password).length > bytesMax) return "password_long";
  if ([...password].length < lengthMin) return "password_short";
  return password.trim().toLowerCase() === email ? "password_email" : undefined;
}
