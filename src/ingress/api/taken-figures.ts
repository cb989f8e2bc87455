import type { Histogram } from "../../base/pure/histogram.ts";
import type { ManifestKey } from "../../orchestration/api/manifest.ts";

/** What visitors of one host of an ingress got since the last time this was asked. For the services beside this one; not on the wire. */
export interface TakenFigures {
  /** Name of the ingress; its scope is that of the app. */
  ingress: string;
  /** Who answers; undefined while no resource of that name is stored. */
  app: ManifestKey | undefined;
  scope: string;
  /** `other` for hosts beyond those that are counted one by one. */
  host: string;
  requests: number;
  failed: number;
  held: number;
  bytesIn: number;
  bytesOut: number;
  /** Requests by the first digit of the status; index 0: no status. */
  byClass: readonly number[];
  latency: Histogram;
}
