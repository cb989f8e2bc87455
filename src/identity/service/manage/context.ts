import { Failure, problemsFailure, type Problem } from "../../../base/wire/failure.ts";
import type { Instance } from "../../store/records.ts";
import type { IdentityContext } from "../context.ts";

/** What the operator's side of the identity service works with. */
export type ManageContext = Pick<
  IdentityContext,
  | "store"
  | "directory"
  | "cursors"
  | "clock"
  | "log"
  | "limits"
  | "randomBytes"
  | "baseUrl"
  | "isServed"
  | "allowPrivate"
>;

/** Who asks, for the audit trail. */
export interface By {
  actor: string;
}

/** A page of a list, or of what a query of the search grammar finds. */
export interface Query {
  query: string | undefined;
  /** Tokens that are not understood fail `invalid`; else they are passed over. */
  strict: boolean;
  limit: number;
  /** `next` of the page before. */
  cursor: string | undefined;
}

export function refuse(problems: readonly Problem[]): void {
  if (problems.length > 0) throw problemsFailure(problems);
}

/** Fails `invalid` without an id, `not_found` for one that is unknown. */
export function requireInstance({ store }: Pick<ManageContext, "store">, id: string | undefined): Instance {
  if (id === undefined || id === "") {
    throw new Failure("invalid", "say which instance: berth identity instance list shows them");
  }
  const instance = store.instances.get(id);
  if (instance !== undefined) return instance;
  throw new Failure("not_found", `no instance "${id.slice(0, 80)}": berth identity instance list shows them`);
}

/** One instance, or all of them: exactly one of both is said. */
export interface Place {
  instance: string | undefined;
  global: boolean;
}

/** Undefined: all instances. Fails as `requireInstance`, and `invalid` where both are said. */
export function placeOf(context: Pick<ManageContext, "store">, { instance, global }: Place): Instance | undefined {
  if (global && instance === undefined) return undefined;
  if (global) throw new Failure("invalid", "say an instance or global=true, not both");
  return requireInstance(context, instance);
}

/** Stands in the audit trail for what belongs to no single instance. */
export const allInstances = { seq: 0 } as const;
