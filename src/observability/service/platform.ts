import type { Client } from "../../base/wire/client.ts";
import type { AppWatch } from "../../orchestration/api/app-facts.ts";
import type { HostStrip } from "../api/apps.ts";

/** How the plane asks the platform, in process: through the contract, and for the rest through these functions. */
export interface Platform {
  /**
   * A client of the orchestration plane; `actor` is on record for what it does: `pat:<id>` for a token, a word of its own for
   * what the plane does by itself. Its calls fail with `ApiError`, which the plane answers as it came.
   */
  as(actor: string): Client;
  /** Deployments and statefulsets with their replicas, from memory. */
  apps: AppWatch;
  /** What the machine uses, as last read; undefined where that is not known. */
  host?: () => HostStrip | undefined;
}
