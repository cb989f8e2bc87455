/** Who came back from the pages of the identity service. */
export interface SignedInUser {
  user: string;
  email: string;
  emailVerified: boolean;
  session: string;
  expiresAt: number | undefined;
}

/** The identity service, as far as people sign in to the web UI through it. An instance is named by its id. */
export interface PeopleIdentity {
  /** Whether browsers can reach its pages at all. */
  isServed: boolean;
  /** Redeems the code of a sign-in, once; undefined for one that is not good. */
  redeem(instance: string, code: string): Promise<SignedInUser | undefined>;
  /** Whether the user is there and not banned, and the session is active. In memory: asked with every request. */
  stands(instance: string, of: { user: string; session: string }): boolean;
  end(instance: string, session: string): Promise<void>;
}
