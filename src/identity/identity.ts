import type { Access } from "./auth.ts";
import type { Discovery } from "./discovery.ts";

/** What the identity service can do, one member per noun; each is built by its file from the context. */
export interface Identity {
  access: Access;
  discovery: Discovery;
}
