import { sha256Hex } from "../../base/pure/digest.ts";

interface PlaceholderInput {
  provider: string;
  uid: string;
  /** What of the id may be shown. */
  handle: string;
  domain: string;
  /** Counts up while somebody has the address already. */
  attempt: number;
}

/**
 * Address of a user whose provider gives none: `<uid>@<domain>` for twitter (docs/contract/identity.md, 1.4),
 * `<uid>@<provider>.<domain>` elsewhere, so that equal ids of two providers are two addresses. An id that cannot stand
 * in an address as it is, or would meet another one in lower case, is replaced by its digest.
 */
export function placeholderEmail({ provider, uid, handle, domain, attempt }: PlaceholderInput): string {
  const digest = sha256Hex(`${provider}\0${uid}\0${attempt}`).slice(0, 24);
  const isPlain = /^[a-z0-9][a-z0-9_-]{0,39}$/.test(handle);
  const plain = isPlain && attempt === 0 ? handle : `${isPlain ? `${handle}-` : ""}${digest}`;
  const host = provider === "twitter" ? domain : `${provider.toLowerCase()}.${domain}`;
  return `${plain}@${host.toLowerCase()}`;
}
