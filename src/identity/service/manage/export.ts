import { endMark, formatUserLine } from "../../core/user-line.ts";
import type { User } from "../../store/records.ts";
import { audit } from "../audit.ts";
import { type ManageContext, requireInstance } from "./context.ts";

export interface ExportRequest {
  /** With password hashes. Tokens of providers and keys never leave. */
  secrets: boolean;
  actor: string;
  signal: AbortSignal;
}

/** Users per piece: each is read between two requests of somebody else. */
const usersAtOnce = 500;

/** Writes users oldest first, as lines; each piece is read when it is wanted. What joins meanwhile is not missed. */
export async function exportUsers(
  context: ManageContext,
  id: string | undefined,
  { secrets, actor, signal }: ExportRequest,
): Promise<AsyncGenerator<string>> {
  const { store, clock } = context;
  const instance = requireInstance(context, id);
  await store.write((nouns) =>
    audit(nouns, { instance, actor, action: "user.export", detail: { secrets }, now: clock.now() }),
  );
  return pieces(context, { instance: instance.seq, secrets, signal });
}

async function* pieces(
  { store }: ManageContext,
  { instance, secrets, signal }: { instance: number; secrets: boolean; signal: AbortSignal },
): AsyncGenerator<string> {
  const line = (user: User) =>
    `${formatUserLine({
      ...user,
      passwordHash: secrets ? user.passwordHash : undefined,
      identities: store.identities.list(user.seq),
    })}\n`;
  let after = 0;
  let count = 0;
  while (!signal.aborted) {
    const users = store.users.oldest(instance, { limit: usersAtOnce, after });
    count += users.length;
    after = users.at(-1)?.seq ?? after;
    if (users.length > 0) yield users.map(line).join("");
    if (users.length < usersAtOnce) {
      yield `${JSON.stringify({ [endMark]: true, users: count })}\n`;
      return;
    }
  }
}
