/** A derived name that only one owner may have. Equal reservations of one owner do not conflict. */
export interface Reservation {
  /** `app:`, `volume:`, `alias:`, `registry:`, `host:`, `domain:`, `share:`, `tls:`, `tcp:` or `route:` and the name. */
  name: string;
  owner: string;
}
