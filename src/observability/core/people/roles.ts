import { asciiDomain } from "../../../base/pure/domain-names.ts";
import { scopes, type Scope } from "../../../base/wire/endpoint.ts";
import type { Role } from "../../api/people.ts";

/** Commands in pods and values of config show secrets: of the roles, `admin` alone has them. */
const granted: Record<Role, readonly Scope[]> = {
  viewer: ["read"],
  operator: ["read", "actions", "host:read"],
  admin: scopes,
};

/** What a role may do on the plane. */
export function scopesOf(role: Role): readonly Scope[] {
  return granted[role];
}

/** The actor of what a person does is `person:<address>`, and an actor is short ASCII text. */
const addressLengthMax = 100;

/**
 * The address of a person as it is kept, and as the identity service knows it: trimmed, lower case, the domain as DNS
 * writes it; undefined where it is none that we take.
 */
export function personAddress(text: string): string | undefined {
  const written = text.trim();
  const at = written.lastIndexOf("@");
  const address = `${written.slice(0, at + 1).toLowerCase()}${asciiDomain(written.slice(at + 1)) ?? ""}`;
  const isAddress = /^[a-z0-9!$&'+=^_`{|}~.-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(address);
  return isAddress && address.length <= addressLengthMax ? address : undefined;
}
