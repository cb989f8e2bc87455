/** The events that webhooks of an instance may get. */
export const identityEventTypes = [
  "user.created",
  "user.updated",
  "user.deleted",
  "user.banned",
  "user.unbanned",
  "session.created",
  "session.revoked",
  "mail.kept",
] as const;

export type IdentityEventType = (typeof identityEventTypes)[number];

export function isIdentityEventType(text: string): text is IdentityEventType {
  return identityEventTypes.some((known) => known === text);
}
