import { systemClock } from "../base/words/clock.ts";
import type { ServeOptions } from "../config/config.ts";
import { shownSettings } from "../config/shown-settings.ts";
import { versionText } from "../version.ts";

/** What `GET /system` says of the server as it was started. */
export function aboutServer(options: ServeOptions) {
  const { dockerHost } = options;
  return { version: versionText(), dockerHost, startedAt: systemClock.now(), settings: shownSettings(options) };
}
