import type { Access } from "./auth.ts";
import type { IdentityContext } from "./context.ts";
import type { Directory } from "./directory.ts";
import type { Discovery } from "./discovery.ts";
import type { Hosted } from "./hosted.ts";
import type { Lookup } from "./lookup.ts";
import type { Management } from "./manage/manage.ts";
import type { OwnApp } from "./own-app.ts";
import type { Refresh } from "./refresh.ts";
import type { Searches } from "./search.ts";
import type { Sessions } from "./sessions.ts";
import type { SigningPairs } from "./signing-pairs.ts";
import type { Tokens } from "./tokens.ts";
import type { Users } from "./users.ts";

/** What the identity service can do, one member per noun; each is built by its file from the context. */
export interface Identity {
  access: Access;
  overview: Directory["overview"];
  rateLimits: Pick<IdentityContext["rateLimits"], "takeClient">;
  discovery: Discovery;
  hosted: Hosted;
  lookup: Lookup;
  tokens: Tokens;
  sessions: Sessions;
  users: Users;
  search: Searches;
  refresh: Refresh;
  signingPairs: SigningPairs;
  /** For the web UI, whose people may sign in through an instance. */
  ownApp: OwnApp;
  /** The operator's side; served by the orchestration plane. */
  manage: Management;
}
