/** A derived name that only one owner may have. Equal claims of one owner do not conflict. */
export interface Claim {
  /** `app:`, `volume:`, `alias:`, `registry:`, `host:`, `domain:`, `share:`, `tls:`, `tcp:` or `route:` and the name. */
  claim: string;
  owner: string;
}
