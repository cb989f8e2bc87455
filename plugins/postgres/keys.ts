/** Keys of the config bucket that belongs to a block. Nothing secret stands in its manifests. */
export const keys = {
  /** Password of the block's first user. */
  password: "POSTGRES_PASSWORD",
  /** Password of the superuser that standbys and backup jobs sign in as. */
  maintenance: "POSTGRES_MAINTENANCE_PASSWORD",
  /** Which pod is primary. */
  primary: "PG_PRIMARY_ORDINAL",
  /** Counts promotions: the higher word is the newer one. */
  epoch: "PG_EPOCH",
  /** What a promotion that is under way is about to do. */
  promotion: "PG_PROMOTION",
  /** How many backups stay. */
  keep: "PG_BACKUPS_KEEP",
  /** Address and port that lead to the server from outside. */
  expose: "PG_EXPOSE",
  /** Apps that were given a URL. */
  links: "PG_LINKS",
} as const;

export function passwordKey(user: string, firstUser: string): string {
  return user === firstUser ? keys.password : `${keys.password}_${user.toUpperCase()}`;
}
