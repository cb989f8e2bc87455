/** Keys of the config bucket that belongs to a block. Nothing secret stands in its manifests. */
export const keys = {
  /** Password of the user `default`, which may do everything; standbys and backup jobs use it, too. */
  password: "REDIS_PASSWORD",
  /** Which pod is primary. */
  primary: "REDIS_PRIMARY_ORDINAL",
  /** Counts failovers and new passwords: the higher word is the newer one. */
  epoch: "REDIS_EPOCH",
  /** What a promotion that is under way is about to do. */
  promotion: "REDIS_PROMOTION",
  /** How many backups stay. */
  keep: "REDIS_BACKUPS_KEEP",
  /** Address and port that lead to the server from outside. */
  expose: "REDIS_EXPOSE",
  /** Apps that were given a URL. */
  links: "REDIS_LINKS",
} as const;

export const firstUser = "default";

export function passwordKey(user: string): string {
  return user === firstUser ? keys.password : `${keys.password}_${user.toUpperCase()}`;
}
