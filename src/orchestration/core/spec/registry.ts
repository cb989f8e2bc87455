import { type Fields, textOf } from "./lenient.ts";

export interface DecodedRegistry {
  kind: "registry";
  url: string | undefined;
  username: string | undefined;
  /** The token, or the password, which is its other name. */
  secret: string | undefined;
  helper: string | undefined;
}

export function decodeRegistry({ url, username, token, password, helper }: Fields): DecodedRegistry {
  const secret = typeof token === "string" ? token : textOf(password);
  return { kind: "registry", url: textOf(url), username: textOf(username), secret, helper: textOf(helper) };
}
